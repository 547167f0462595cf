/** The operation on a count: `take` one of `limit`, give one back, or look. */
export interface CountRequest {
  readonly kind: 'take' | 'giveBack' | 'peek';
  readonly limit: number;
}

export interface Counted {
  readonly allowed: boolean;
  /** The count after the operation. */
  readonly used: number;
}

export function count({ kind, limit }: CountRequest, used: number): Counted {
  const allowed = used < limit;
  switch (kind) {
    case 'take':
      return { allowed, used: allowed ? used + 1 : used };
    case 'giveBack':
      return { allowed: true, used: Math.max(0, used - 1) };
    case 'peek':
      return { allowed, used };
  }
}
