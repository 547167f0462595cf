/** The service keeps an operator who can act, also if two suspend each other at the same time. */
import { test } from 'tap';
import {
  type OperatorsCommand,
  type OperatorsEvent,
  operators,
} from '../../../src/domain/operators.ts';
import { given } from '../../support/given.ts';
import { accountId } from '../../support/samples.ts';

const [ANN, BEN, CAT] = [accountId(1), accountId(2), accountId(3)] as const;
const setAside = (who: string): OperatorsEvent => ({
  type: 'OperatorSetAside',
  data: { accountId: who },
});
const restored = (who: string): OperatorsEvent => ({
  type: 'OperatorRestored',
  data: { accountId: who },
});
const suspend = (who: string, ...others: readonly string[]): OperatorsCommand => ({
  type: 'SetOperatorAside',
  accountId: who,
  others,
});
const restore = (who: string): OperatorsCommand => ({ type: 'RestoreOperator', accountId: who });

void test('an operator is set aside if another one can act', (t) => {
  given(t, operators).when(suspend(ANN, BEN)).thenEvents(setAside(ANN));
  given(t, operators, setAside(BEN))
    .when(suspend(ANN, BEN, CAT))
    .thenEvents(setAside(ANN));
  given(t, operators, setAside(ANN)).when(suspend(ANN, BEN)).thenNothing();
  t.end();
});

void test('the last operator who can act stays', (t) => {
  given(t, operators)
    .when(suspend(ANN))
    .thenRejected('forbidden', /last operator.*another account an operator/);
  given(t, operators, setAside(BEN)).when(suspend(ANN, BEN)).thenRejected('forbidden');
  given(t, operators, setAside(BEN), setAside(CAT))
    .when(suspend(ANN, BEN, CAT))
    .thenRejected('forbidden');
  t.end();
});

void test('of two operators who suspend each other, the second is refused', (t) => {
  // Ben's own stream does not show yet that he was suspended: he is still among the others.
  given(t, operators, setAside(BEN)).when(suspend(ANN, BEN)).thenRejected('forbidden');
  given(t, operators, setAside(BEN), restored(BEN))
    .when(suspend(ANN, BEN))
    .thenEvents(setAside(ANN));
  t.end();
});

void test('an operator who was set aside is restored, once and alone', (t) => {
  given(t, operators).when(restore(ANN)).thenNothing();
  given(t, operators, setAside(ANN), setAside(BEN)).when(restore(ANN)).thenEvents(restored(ANN));
  const before = [setAside(ANN), setAside(BEN), restored(ANN)];
  given(t, operators, ...before)
    .when(restore(ANN))
    .thenNothing();
  given(t, operators, ...before)
    .when(restore(BEN))
    .thenEvents(restored(BEN));
  t.end();
});
