import type { ListedWebhookDelivery } from '@millrace/contract';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter/filter-field.tsx';
import { useWordFilter } from '../../parts/filter/use-word-filter.ts';
import type { WordKey } from '../../parts/filter/word-query.ts';
import { useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { deliveryPath } from './words.ts';

const ofOne: Readonly<Record<string, WordKey>> = {
  sender: { parameter: 'filter[senderId]' },
  from: { parameter: 'filter[from]', kind: 'time' },
  to: { parameter: 'filter[to]', kind: 'time' },
};
const ofAll: Readonly<Record<string, WordKey>> = { ...ofOne, webhook: { parameter: 'filter[webhook]' } };

const idOf = ({ id }: ListedWebhookDelivery): string => id;

interface DeliveryListProps {
  /** Default: the deliveries of all webhooks. */
  readonly webhook?: string;
  /** Shown if there are none. */
  readonly empty: ReactNode;
}

/** Accepted requests, newest first. */
export function DeliveryList({ webhook, empty }: DeliveryListProps) {
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const isOfAll = webhook === undefined;
  const filter = useWordFilter(isOfAll ? ofAll : ofOne);
  const webhooks = useAsk('listWebhooks', {}, { enabled: isOfAll });
  const query = { ...filter.query, ...(!isOfAll && { 'filter[webhook]': webhook }), 'page[size]': 50 };
  const list = useLiveList('listWebhookDeliveries', { query }, idOf);
  const named = query['filter[webhook]'];
  return (
    <>
      <div className="list-tools">
        <FilterField
          value={filter.text}
          onChange={filter.set}
          keys={[
            ...(isOfAll
              ? [
                  {
                    key: 'webhook',
                    about: 'webhook id',
                    values: () => (webhooks.data?.data ?? []).map(({ id }) => id),
                  },
                ]
              : []),
            { key: 'sender', about: "sender's id of the request" },
            { key: 'from', about: 'received at or after a time: 2026-11-21T10:00' },
            { key: 'to', about: 'received before a time' },
          ]}
          error={filter.error}
          placeholder="Filter, such as sender:evt_1 from:2026-11-21"
        />
        <CodeExample
          operation="listWebhookDeliveries"
          input={{ query }}
          cli={`webhooks deliveries${named === undefined ? '' : ` --webhook ${shellWord(named)}`}`}
          sdk={`import { webhooks } from '@millrace/sdk';\n\nfor await (const delivery of webhooks.deliveries(${named === undefined ? '' : `{ webhook: ${JSON.stringify(named)} }`})) {\n  console.log(delivery.id, delivery.senderId, delivery.status);\n}`}
        />
      </div>
      <LiveTable
        list={list}
        noun="delivery"
        nouns="deliveries"
        label="Deliveries"
        columns={deliveryColumns(isOfAll)}
        rowKey={idOf}
        hrefOf={({ id }) => pageHref(deliveryPath(id))}
        onOpen={({ id }) => goTo(deliveryPath(id))}
        empty={
          filter.text === '' ? (
            empty
          ) : (
            <Empty
              title="No deliveries match this filter."
              action={<Button onClick={() => filter.set('')}>Clear the filter</Button>}
            />
          )
        }
      />
    </>
  );
}
