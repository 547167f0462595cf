import { KINDS } from '../support/nodes.ts';
import { runNodeFaults } from './node-faults.ts';

for (const kind of KINDS.filter(({ shared }) => !shared)) runNodeFaults(kind);
