/** The plans, as people read them and choose among them. */
import type { components } from '../api/schema.d.ts';
import type { Choice } from './Select.tsx';

export type Plan = components['schemas']['Account']['plan'];

const NAMES: Readonly<Record<Plan, string>> = { free: 'Free', starter: 'Starter', pro: 'Pro' };

export const planName = (plan: Plan): string => NAMES[plan];

export const PLAN_CHOICES: readonly Choice<Plan>[] = (Object.keys(NAMES) as Plan[]).map((plan) => ({
  value: plan,
  label: planName(plan),
}));
