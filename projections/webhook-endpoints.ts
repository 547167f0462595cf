/** Webhook endpoints in the tables of `webhooks.ts`: created, changed, switched off and deleted. */
import type { Database } from 'better-sqlite3';
import type { typedHandlers } from '../src/read-model/projection.ts';

export const UNLESS_ERASED =
  'WHERE NOT EXISTS (SELECT 1 FROM webhook_erased_accounts WHERE id = @accountId)';

export function endpointHandlers(db: Database): Parameters<typeof typedHandlers>[0] {
  const insert = db.prepare(
    `INSERT INTO webhooks
       (position, id, account_id, url, description, types, secret_prefix, secret_at, created_at,
        changed_at)
     SELECT @position, @webhookId, @accountId, @url, @description, @types, @secretPrefix, @createdAt, @createdAt,
       @createdAt
     ${UNLESS_ERASED}`,
  );
  const change = db.prepare(
    `UPDATE webhooks SET url = coalesce(@url, url), description = coalesce(@description, description),
       types = coalesce(@types, types), enabled = coalesce(@enabled, enabled), changed_at = @changedAt,
       failing_since = NULL, failed_at = NULL, gone = 0 WHERE id = @webhookId`,
  );
  const switchOff = db.prepare(
    'UPDATE webhooks SET enabled = 0, disabled_reason = ?, disabled_at = ? WHERE id = ?',
  );
  const switchOn = db.prepare(
    'UPDATE webhooks SET disabled_reason = NULL, disabled_at = NULL WHERE id = ?',
  );
  const rotate = db.prepare('UPDATE webhooks SET secret_prefix = ?, secret_at = ? WHERE id = ?');
  const rotateDefault = db.prepare(
    `INSERT INTO webhook_default_secrets (account_id, secret_prefix, secret_at)
     SELECT @accountId, @secretPrefix, @rotatedAt ${UNLESS_ERASED}
     ON CONFLICT DO UPDATE SET secret_prefix = excluded.secret_prefix, secret_at = excluded.secret_at`,
  );
  const remove = db.prepare('DELETE FROM webhooks WHERE id = ?');
  const drop = db.prepare(
    `UPDATE webhook_deliveries SET status = 'failed', dropped = ? WHERE webhook_id = ? AND status = 'waiting'`,
  );
  return {
    WebhookCreated(data, { position }) {
      const { accountId, webhookId, url, description = null, secretPrefix, createdAt } = data;
      const types = JSON.stringify(data.types);
      const row = { position, accountId, webhookId, url, description, types };
      insert.run({ ...row, secretPrefix, createdAt });
    },
    WebhookChanged({ webhookId, url = null, description = null, types, enabled, changedAt }) {
      change.run({
        webhookId,
        url,
        description,
        types: types === undefined ? null : JSON.stringify(types),
        enabled: enabled === undefined ? null : Number(enabled),
        changedAt,
      });
      if (enabled === true) switchOn.run(webhookId);
      if (enabled !== false) return;
      switchOff.run('owner', changedAt, webhookId);
      drop.run('disabled', webhookId);
    },
    WebhookSecretRotated({ accountId, webhookId, secretPrefix, rotatedAt }) {
      if (webhookId === undefined) rotateDefault.run({ accountId, secretPrefix, rotatedAt });
      else rotate.run(secretPrefix, rotatedAt, webhookId);
    },
    WebhookDisabled({ webhookId, reason, disabledAt }) {
      switchOff.run(reason, disabledAt, webhookId);
      drop.run('disabled', webhookId);
    },
    WebhookDeleted({ webhookId }) {
      remove.run(webhookId);
      drop.run('deleted', webhookId);
    },
  };
}
