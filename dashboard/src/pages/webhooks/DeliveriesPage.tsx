import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../../ui/Page.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { DeliveryList } from './DeliveryList.tsx';

const route = getRouteApi('/signed-in/webhooks/deliveries');

export default function DeliveriesPage() {
  const navigate = route.useNavigate();
  return (
    <Page
      title={t('Deliveries')}
      lead={rich(
        'All that was sent to the <link>endpoints</link> and to addresses of single requests, newest first.',
        { link: <Link to="/webhooks" /> },
      )}
    >
      <DeliveryList
        search={route.useSearch()}
        onSearch={(search) =>
          void navigate({ to: '/webhooks/deliveries', search, resetScroll: false })
        }
      />
    </Page>
  );
}
