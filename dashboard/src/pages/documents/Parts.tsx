import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { batchZip } from '../../api/batches.ts';
import { conversionsPage, isEnded } from '../../api/conversions.ts';
import { pageQuery } from '../../api/client.ts';
import { counted, formatBytes } from '../../ui/format.ts';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { Loaded } from '../../ui/Page.tsx';
import { StatusBadge } from '../../ui/records.tsx';
import styles from './documents.module.css';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** How often parts that have not ended are asked for, beside the live stream. */
const POLL_MS = 2000;
/** The most that the service makes of one request, and lists on one page. */
const MOST_PARTS = 100;

interface PartsProps {
  /** The batch of the parts. */
  readonly id: string;
  /** The ids of the conversions, in the order of the parts. */
  readonly conversions: readonly string[];
}

/** The parts that a split makes, each with its state. */
export function Parts({ id, conversions }: PartsProps) {
  const query = useQuery(
    pageQuery({
      ...conversionsPage({ batch: id }, { size: MOST_PARTS }),
      again: (items) => !items.every(isEnded) && POLL_MS,
    }),
  );
  return (
    <Loaded query={query} what={t('the parts')} lines={4}>
      {({ items }) => {
        const ended = items.filter(isEnded);
        const completed = items.filter(({ status }) => status === 'completed');
        const isWhole = ended.length === conversions.length;
        return (
          <div className="stack">
            <ProgressBar
              label={t('Parts')}
              value={ended.length}
              max={conversions.length}
              text={t('{length} of {length2} have ended', {
                length: ended.length,
                length2: conversions.length,
              })}
            />
            <div role="status" className="visually-hidden">
              {isWhole &&
                t('{length} of {length2} are ready.', {
                  length: counted(completed.length, 'part'),
                  length2: conversions.length,
                })}
            </div>
            <ol aria-label={t('Parts')} className={styles.found}>
              {conversions.map((conversion) => {
                const part = items.find((item) => item.id === conversion);
                if (part === undefined) return null;
                const { name = conversion, status, bytes, pages, error_message: reason } = part;
                return (
                  <li key={conversion} className={styles.foundItem}>
                    <div className="named">
                      <Link
                        to="/conversions/$id"
                        params={{ id: conversion }}
                        className={styles.name}
                      >
                        <bdi>{name}</bdi>
                      </Link>
                      {pages !== undefined && bytes !== undefined && (
                        <span className="note">
                          {counted(pages, 'page')}, {formatBytes(bytes)}
                        </span>
                      )}
                      {reason !== undefined && (
                        <p className="wrong">
                          {rich('{reason} The credit was given back.', { reason })}
                        </p>
                      )}
                    </div>
                    <StatusBadge status={status} failure={part.failure_code} />
                  </li>
                );
              })}
            </ol>
            <div className="line">
              {isWhole && completed.length > 0 && (
                <SaveButton
                  small
                  icon="download"
                  what={t('ZIP file')}
                  load={() => batchZip(id, false)}
                >
                  {rich('Download {length} as ZIP', { length: counted(completed.length, 'PDF') })}
                </SaveButton>
              )}
              <Link to="/batches/$id" params={{ id }}>
                {t('Open the batch')}
              </Link>
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
