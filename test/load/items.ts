/** Small valid items of several resources, to be varied by the tests of loading. */

export const urn = (value: unknown, type: unknown = 'fsd_profile'): unknown => ({ type, value });
export const filing = (accession: string, file: string, more: object = {}): object => ({
  accession_number: accession,
  file_name: file,
  document_url: 'https://filings.example/d',
  ...more,
});
export const profile = (id: unknown, more: object = {}): object => ({
  rest_id: id,
  internal_id: 'i',
  name: 'n',
  alias: 'a',
  url: 'u',
  ...more,
});
export const group = (value: string, more: object = {}): object => ({
  urn: urn(value, 'group'),
  name: 'G',
  url: 'u',
  member_count: 1,
  ...more,
});
export const photoshareUser = (id: string, more: object = {}): object => ({
  id,
  alias: 'a',
  name: 'n',
  url: 'u',
  ...more,
});
export const photosharePost = (id: string, more: object = {}): object => ({
  id,
  code: 'c',
  url: 'u',
  image: 'i',
  ...more,
});
export const logRow = (number: number, more: object = {}): object => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  cost: 1,
  is_paid: true,
  endpoint: '/x',
  plan: 'p',
  started_at: '2026-11-20T10:00:00.123456Z',
  ...more,
});
