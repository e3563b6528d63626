/** Declares the analyst views: the meaning of a row and of each column. Their SQL is in the migrations. */
import { balanceViews } from './balance.ts';
import { calendarViews } from './calendar.ts';
import { costViews } from './costs.ts';
import { filingViews } from './filings.ts';
import { peopleViews } from './people.ts';
import { postViews } from './posts.ts';
import { profileViews } from './profiles.ts';
import { syncViews } from './syncs.ts';
import type { View } from './view.ts';

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
