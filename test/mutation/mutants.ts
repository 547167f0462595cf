/** The narrow bugs that can be put into a source file, one at a time. */
import { parseSync } from '@swc/core';

/** Bytes of the source that another text takes the place of. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
};
const SWAPPED_METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some' };
/** Of what is written around an expression for the type checker, only the expression runs. */
const WITH_EXPRESSION = new Set(['TsAsExpression', 'TsConstAssertion', 'TsSatisfiesExpression']);

interface Node {
  readonly type: string;
  readonly span: { readonly start: number; readonly end: number };
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'span' in value;

// Places count from 1 where the source begins, and the program begins with its first token.
const at = ({ span }: Node) => ({ start: span.start - 1, end: span.end - 1 });

export function mutantsOf(source: string): readonly Mutant[] {
  const bytes = Buffer.from(source);
  const program = parseSync(source, { syntax: 'typescript' });
  const textOf = (node: Node): string => {
    const { start, end } = at(node);
    return bytes.toString('utf8', start, end);
  };
  const mutants: Mutant[] = [];
  const add = (node: Node, ...texts: string[]): void => {
    for (const text of texts) mutants.push({ ...at(node), text });
  };

  const mutate = (node: Node): void => {
    const { operator, left, right, test } = node;
    if (node.type === 'BinaryExpression' && isNode(left) && isNode(right)) {
      const swapped = SWAPPED[String(operator)];
      if (operator === '??') add(node, textOf(left), textOf(right));
      else if (swapped !== undefined) {
        const between = bytes.toString('utf8', at(left).end, at(right).start);
        const text = between.replace(String(operator), swapped);
        mutants.push({ start: at(left).end, end: at(right).start, text });
      }
    }
    if (/^(Conditional|If)/.test(node.type) && isNode(test)) add(test, 'true', 'false');
    if (node.type === 'UnaryExpression' && operator === '!' && isNode(node['argument'])) {
      add(node, textOf(node['argument']));
    }
    if (node.type === 'BooleanLiteral') add(node, String(node['value'] !== true));
    if (node.type === 'NumericLiteral') add(node, String(Number(node['value']) + 1));
    if (node.type === 'Identifier' && typeof node['value'] === 'string') {
      const swapped = SWAPPED_METHODS[node['value']];
      if (swapped !== undefined) add(node, swapped);
    }
  };

  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value as unknown[]) walk(each);
    else if (typeof value === 'object' && value !== null) {
      if (isNode(value)) {
        if (WITH_EXPRESSION.has(value.type)) return walk(value['expression']);
        if (value.type.startsWith('Ts')) return;
        mutate(value);
      }
      for (const child of Object.values(value)) walk(child);
    }
  };
  walk(program.body);
  return mutants.toSorted((a, b) => a.start - b.start);
}
