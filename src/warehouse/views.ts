/** The views for analysts, declared: what a row is and what each column means. Their SQL is in the migrations. */
import { balanceViews } from './views/balance.ts';
import { calendarViews } from './views/calendar.ts';
import { costViews } from './views/costs.ts';
import { filingViews } from './views/filings.ts';
import { peopleViews } from './views/people.ts';
import { postViews } from './views/posts.ts';
import { profileViews } from './views/profiles.ts';
import { syncViews } from './views/syncs.ts';
import type { View } from './views/view.ts';

/** Every view, by topic. */
export const views: readonly View[] = [
  ...calendarViews,
  ...filingViews,
  ...postViews,
  ...peopleViews,
  ...profileViews,
  ...syncViews,
  ...costViews,
  ...balanceViews,
];
