/** The views for analysts, declared: what a row is and what each column means. Their SQL is in the migrations. */

export interface View {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly about: string }[];
}

export const views: readonly View[] = [
  {
    name: 'sync_inputs',
    about: 'What each sync asked, input by input, with how it ended the last time: one row a sync and question.',
    columns: [
      { name: 'sync', type: 'text', about: 'Name of the sync in the config.' },
      { name: 'endpoint', type: 'text', about: 'Name of the endpoint: its path with dots.' },
      { name: 'request_key', type: 'text', about: 'SHA-256, in hex, of the endpoint and the canonical body.' },
      { name: 'input', type: 'jsonb', about: 'The fields that the sync’s input brought; {} without for_each.' },
      {
        name: 'outcome',
        type: 'text',
        about:
          'How it ended: loaded, unchanged, empty, missing, quarantined, failed or skipped; planned, sent, stored or in_doubt while it has not; abandoned when it was given up.',
      },
      {
        name: 'at',
        type: 'timestamp with time zone',
        about: 'Receipt of the answer; without one, when it ended, was sent or was planned.',
      },
      { name: 'answer_id', type: 'bigint', about: 'The paid answer, in the operations schema; null without one.' },
      { name: 'error', type: 'text', about: 'What went wrong, in words; null when nothing did.' },
    ],
  },
];
