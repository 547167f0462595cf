/** How ids look, to be a part of a pattern: what becomes a part of a path or a stream must be one. */
export const CONVERSION_ID = 'conv_[0-9a-z]{26}';
export const ACCOUNT_ID = 'acct_[0-9a-z]{26}';
