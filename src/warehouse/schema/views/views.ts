/** Declares the analyst views, each once. The migrator replaces a view whose query has changed. */
import { answerViews } from './answers.ts';
import { balanceViews } from './balance.ts';
import { calendarViews } from './calendar.ts';
import { checkViews } from './checks.ts';
import { coverageViews } from './coverage.ts';
import { filingViews } from './filings.ts';
import { forecastViews } from './forecasts.ts';
import { historyViews } from './history.ts';
import { peopleViews } from './people.ts';
import { postViews } from './posts.ts';
import { presenceViews } from './presence.ts';
import { priceViews } from './prices.ts';
import { profileViews } from './profiles.ts';
import { requestCostViews } from './request-costs.ts';
import { syncCostViews } from './sync-costs.ts';
import { syncViews } from './syncs.ts';
import type { View } from './view.ts';

/** Every view, by topic. */
export const views: readonly View[] = [
  ...calendarViews,
  ...filingViews,
  ...postViews,
  ...peopleViews,
  ...profileViews,
  ...presenceViews,
  ...historyViews,
  ...syncViews,
  ...coverageViews,
  ...checkViews,
  ...answerViews,
  ...requestCostViews,
  ...syncCostViews,
  ...priceViews,
  ...forecastViews,
  ...balanceViews,
];

/** Every view after those that its query names. */
export function viewsByDependency(): readonly View[] {
  const ordered = new Set<View>();
  const add = (view: View): void => {
    if (ordered.has(view)) return;
    for (const other of views) if (other !== view && view.query.includes(`"${other.name}"`)) add(other);
    ordered.add(view);
  };
  views.forEach(add);
  return [...ordered];
}
