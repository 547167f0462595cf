import { test } from 'tap';
import { wholeList } from '../../src/accounts/whole-list.ts';

const PAGE = 3;

async function collected(pages: AsyncIterable<readonly number[]>): Promise<number[][]> {
  const read: number[][] = [];
  for await (const rows of pages) read.push([...rows]);
  return read;
}

/** Reads a list to which each page adds so many rows before it is read. */
async function readWith(addedByPage: readonly number[], length: number): Promise<number[][]> {
  const list = Array.from({ length }, (_, index) => length - index);
  let reads = 0;
  const pages = wholeList(async (offset) => {
    const added = addedByPage[reads++] ?? 0;
    for (let n = 0; n < added; n += 1) list.unshift(list.length + 1);
    return { rows: list.slice(offset, offset + PAGE), total: list.length };
  });
  return await collected(pages);
}

void test('a list is read whole, each row once', async (t) => {
  t.strictSame(await readWith([], 0), []);
  t.strictSame(await readWith([], 3), [[3, 2, 1]]);
  t.strictSame(await readWith([], 7), [[7, 6, 5], [4, 3, 2], [1]]);
});

void test('rows that are added meanwhile are left out, and no other is', async (t) => {
  t.strictSame(
    await readWith([0, 1, 1, 1, 1, 1], 5),
    [
      [5, 4, 3],
      [2, 1],
    ],
    'fewer than a page',
  );
  t.strictSame(
    await readWith([0, 3, 5, 0], 5),
    [
      [5, 4, 3],
      [2, 1],
    ],
    'more than a page',
  );
});

void test('a list that is emptied meanwhile ends', async (t) => {
  let rows = [1, 2];
  const pages = wholeList(async (offset) => {
    const page = { rows: rows.slice(offset, offset + 1), total: rows.length };
    rows = [];
    return page;
  });
  t.strictSame(await collected(pages), [[1]]);
});
