import { type ReactNode, useEffect, useRef, useState } from 'react';
import { IconButton } from './Button.tsx';
import { Icon } from './icons.tsx';
import styles from './OrderedList.module.css';
import { t } from '../words/words.ts';

interface Item {
  /** Tells it from the others while they change their places. */
  readonly key: number;
}

interface OrderedListProps<Each extends Item> {
  /** The name of the list, for screen readers. */
  readonly label: string;
  readonly items: readonly Each[];
  readonly nameOf: (item: Each) => string;
  readonly onChange: (items: readonly Each[]) => void;
  /** Stands beside the buttons. */
  readonly head: (item: Each) => ReactNode;
  /** Stands below, if there is any. */
  readonly children: (item: Each, at: number) => ReactNode;
}

/** Items whose order a person changes, by buttons or by dragging them, and which can be removed. */
export function OrderedList<Each extends Item>(props: OrderedListProps<Each>) {
  const { label, items, nameOf, onChange, head, children } = props;
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const [moved, setMoved] = useState<{ readonly key: number; readonly by: -1 | 1 }>();
  const [said, setSaid] = useState('');
  const move = (key: number, to: number) => {
    const from = items.findIndex((item) => item.key === key);
    const item = items[from];
    if (item === undefined || from === to) return;
    onChange(items.toSpliced(from, 1).toSpliced(to, 0, item));
    setSaid(
      t('{item} is now number {value} of {length}.', {
        item: nameOf(item),
        value: to + 1,
        length: items.length,
      }),
    );
  };
  // A button that was pressed may be disabled now, at an end of the list: the other one takes the focus.
  useEffect(() => {
    if (moved === undefined) return;
    setMoved(undefined);
    const buttons = list.current?.querySelectorAll<HTMLButtonElement>(
      `[data-key="${moved.key}"] [data-moves] button`,
    );
    const [up, down] = buttons ?? [];
    const [pressed, other] = moved.by === -1 ? [up, down] : [down, up];
    (pressed?.disabled === false ? pressed : other)?.focus();
  }, [moved]);
  const remove = (at: number) => {
    const next = items[at + 1] ?? items[at - 1];
    const [item] = items.slice(at, at + 1);
    if (item !== undefined) setSaid(t('{item} is removed.', { item: nameOf(item) }));
    onChange(items.toSpliced(at, 1));
    if (next === undefined) return;
    list.current
      ?.querySelector<HTMLElement>(`[data-key="${next.key}"] [data-removes] button`)
      ?.focus();
  };
  return (
    <>
      <div role="status" className="visually-hidden">
        {said}
      </div>
      <ol ref={list} aria-label={label} className={`${styles.list} stack gap-2`}>
        {items.map((item, at) => {
          const { key } = item;
          const name = nameOf(item);
          const step = (by: -1 | 1) => {
            move(key, at + by);
            setMoved({ key, by });
          };
          return (
            <li
              key={key}
              data-key={key}
              className={`${styles.item} card`}
              data-over={over === key && dragged !== undefined && dragged !== key}
              onDragOver={(event) => {
                if (dragged === undefined) return;
                event.preventDefault();
                event.dataTransfer.dropEffect = 'move';
                setOver(key);
              }}
              onDrop={(event) => {
                if (dragged === undefined) return;
                event.preventDefault();
                move(dragged, at);
              }}
            >
              <span
                className={styles.handle}
                aria-hidden="true"
                draggable
                onDragStart={(event) => {
                  const { dataTransfer, currentTarget } = event;
                  dataTransfer.effectAllowed = 'move';
                  dataTransfer.setData('text/plain', name);
                  const row = currentTarget.closest('li');
                  if (row !== null) dataTransfer.setDragImage(row, 0, 0);
                  setDragged(key);
                }}
                onDragEnd={() => {
                  setDragged(undefined);
                  setOver(undefined);
                }}
              >
                <Icon name="grip" />
              </span>
              <div className={`${styles.head} anywhere`}>{head(item)}</div>
              <div className="beside gap-0">
                <span data-moves className="beside gap-0">
                  <IconButton
                    label={t('Move {name} up', { name })}
                    icon="chevronUp"
                    isDisabled={at === 0}
                    onPress={() => step(-1)}
                  />
                  <IconButton
                    label={t('Move {name} down', { name })}
                    icon="chevronDown"
                    isDisabled={at === items.length - 1}
                    onPress={() => step(1)}
                  />
                </span>
                <span data-removes>
                  <IconButton
                    label={t('Remove {name}', { name })}
                    icon="trash"
                    onPress={() => remove(at)}
                  />
                </span>
              </div>
              <div className={`${styles.body} stack gap-3`}>{children(item, at)}</div>
            </li>
          );
        })}
      </ol>
    </>
  );
}
