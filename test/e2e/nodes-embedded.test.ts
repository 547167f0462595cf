import { KINDS } from '../support/nodes.ts';
import { runNodes } from './nodes.ts';

for (const kind of KINDS.filter(({ shared }) => shared)) runNodes(kind);
