/** The plans, as people read them. */

/** team → Team */
export const planName = (plan: string): string => plan.charAt(0).toUpperCase() + plan.slice(1);
