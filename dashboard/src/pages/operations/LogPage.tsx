import { Page } from '../../ui/Page.tsx';
import { CheckpointsSection } from './CheckpointsSection.tsx';
import { ProjectionsSection } from './ProjectionsSection.tsx';

export default function LogPage() {
  return (
    <Page
      title="Log"
      lead="All that happened is in one log. Its signed checkpoints prove that it is unchanged; the projections are the lists that the service reads from it."
    >
      <CheckpointsSection />
      <ProjectionsSection />
    </Page>
  );
}
