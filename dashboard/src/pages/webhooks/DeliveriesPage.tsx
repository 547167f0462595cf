import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../../ui/Page.tsx';
import { DeliveryList } from './DeliveryList.tsx';

const route = getRouteApi('/signed-in/webhooks/deliveries');

export default function DeliveriesPage() {
  const navigate = route.useNavigate();
  return (
    <Page
      title="Deliveries"
      lead={
        <>
          All that was sent to the <Link to="/webhooks">endpoints</Link> and to addresses of single
          requests, newest first.
        </>
      }
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
