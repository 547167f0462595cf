import { test } from 'tap';
import { type Asker, NOBODYS_HASH, Passwords } from '../../src/accounts/passwords.ts';
import { readConfig } from '../../src/config/config.ts';
import { BudgetExceeded, Budgets } from '../../src/limits/budgets.ts';

const parts = (hash: string) => hash.split('$');
const stranger = (group: string): Asker => ({ group, trusted: false });
const owner = (group: string): Asker => ({ group, trusted: true });

function open(hashes: number, waiting: number) {
  const env = { MAX_PASSWORD_HASHES: `${hashes}`, MAX_WAITING_SIGN_INS: `${waiting}` };
  const budgets = new Budgets(readConfig(env));
  const passwords = new Passwords(budgets);
  const counts = () =>
    (['maxPasswordHashes', 'maxWaitingSignIns'] as const).map((name) => budgets.get(name).count());
  /** In the order in which they came to an end. */
  const ended: string[] = [];
  const ask = async (name: string, asker: Asker): Promise<void> => {
    try {
      await passwords.verify(NOBODYS_HASH, 'a guess', asker);
      ended.push(name);
    } catch (error) {
      ended.push(error instanceof BudgetExceeded ? `${name} refused` : String(error));
    }
  };
  return { passwords, counts, ended, ask };
}

void test('the hash of nobody asks for the same work as everybody’s, and fits nobody', async (t) => {
  const { passwords } = open(2, 1);
  const usual = await passwords.hash('correct horse battery');
  t.strictSame(parts(NOBODYS_HASH).slice(0, 4), parts(usual).slice(0, 4), 'its parameters');
  t.strictSame(
    parts(NOBODYS_HASH).map(({ length }) => length),
    parts(usual).map(({ length }) => length),
    'its salt and length',
  );
  const asker = stranger('one');
  t.equal(await passwords.verify(usual, 'correct horse battery', asker), true, 'the control');
  t.equal(await passwords.verify(NOBODYS_HASH, 'correct horse battery', asker), false);
  t.equal(await passwords.verify(NOBODYS_HASH, '', asker), false);
});

void test('so many are hashed, so many wait, and no more', async (t) => {
  const { counts, ended, ask } = open(2, 3);
  const all = ['1', '2', '3', '4', '5', '6', '7'].map((name) => ask(name, stranger('one')));
  t.match(counts(), [{ used: 2 }, { used: 3, refused: 2 }]);
  await Promise.all(all.slice(5));
  t.strictSame(ended, ['6 refused', '7 refused'], 'before anybody has had a turn');
  await Promise.all(all);
  t.equal(ended.length, 7);
  t.match(counts(), [{ used: 0 }, { used: 0 }]);
  await ask('8', stranger('one'));
  t.equal(ended.at(-1), '8');
});

void test('one network neither fills the queue nor takes all turns', async (t) => {
  const { counts, ended, ask } = open(1, 4);
  const flood = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => ask(name, stranger('a')));
  const others = ['b1', 'b2', 'c1'].map((name) => ask(name, stranger(name.slice(0, 1))));
  t.match(counts(), [{ used: 1 }, { used: 4 }]);
  await Promise.all([...flood, ...others]);
  // Places: a2 a3 a4 a5, then b1 for a5, b2 for a4, then c1 for a3 or b2, as both groups have two.
  t.strictSame(ended, ['a5 refused', 'a4 refused', 'a3 refused', 'a1', 'a2', 'b1', 'c1', 'b2']);
});

void test('an owner gets in where strangers of many networks fill the queue', async (t) => {
  const { ended, ask } = open(1, 3);
  const strangers = ['s0', 's1', 's2', 's3', 's4'].map((name) => ask(name, stranger(name)));
  const owners = ['o1', 'o2'].map((name) => ask(name, owner('o')));
  await Promise.all([...strangers, ...owners]);
  t.strictSame(
    ended.filter((name) => name.endsWith('refused')),
    ['s4 refused', 'o2 refused', 's1 refused'],
    'but one owner does not fill it either',
  );
  t.strictSame(
    ended.filter((name) => !name.endsWith('refused')),
    ['s0', 's2', 's3', 'o1'],
  );
});
