/** `node lint.mjs FILE`: prints the findings of Spectral's rules for OpenAPI as JSON. */
import { readFileSync } from 'node:fs';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

const linter = new spectral.Spectral();
linter.setRuleset({ extends: rulesets.oas });
const findings = await linter.run(JSON.parse(readFileSync(process.argv[2], 'utf8')));
console.log(JSON.stringify(findings));
