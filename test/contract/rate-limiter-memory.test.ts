import { MemoryRateLimiter } from '../../src/limits/rate-limiter/memory.ts';
import { runRateLimiterContract } from './rate-limiter-contract.ts';

runRateLimiterContract({
  name: 'memory',
  open: async (_, clock) => {
    const limiter = new MemoryRateLimiter(clock);
    return { limiter, other: limiter, close: async () => {} };
  },
});
