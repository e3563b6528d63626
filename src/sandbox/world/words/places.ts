/** Places of people and schools, and states of companies. */

export interface City {
  readonly city: string;
  readonly country: string;
  /** The professional network's number of the place. */
  readonly geo: string;
  readonly weight: number;
  readonly latitude: number;
  readonly longitude: number;
}

type PlaceRow = readonly [
  city: string,
  country: string,
  geo: number,
  weight: number,
  latitude: number,
  longitude: number,
];

const PLACE_ROWS: readonly PlaceRow[] = [
  ['Berlin', 'Germany', 106967730, 9, 52.52, 13.405],
  ['Paris', 'France', 106383538, 9, 48.8566, 2.3522],
  ['London', 'United Kingdom', 90009496, 9, 51.5072, -0.1276],
  ['New York', 'United States', 90000070, 7, 40.7128, -74.006],
  ['San Francisco', 'United States', 90000084, 6, 37.7749, -122.4194],
  ['Munich', 'Germany', 100477049, 4, 48.1351, 11.582],
  ['Hamburg', 'Germany', 106430557, 3, 53.5511, 9.9937],
  ['Lyon', 'France', 103815258, 2, 45.764, 4.8357],
  ['Amsterdam', 'Netherlands', 102011674, 4, 52.3676, 4.9041],
  ['Madrid', 'Spain', 103374081, 3, 40.4168, -3.7038],
  ['Barcelona', 'Spain', 107025191, 3, 41.3874, 2.1686],
  ['Lisbon', 'Portugal', 106930979, 2, 38.7223, -9.1393],
  ['Dublin', 'Ireland', 105178154, 3, 53.3498, -6.2603],
  ['Zürich', 'Switzerland', 102436504, 2, 47.3769, 8.5417],
  ['Vienna', 'Austria', 107144641, 2, 48.2082, 16.3738],
  ['Warsaw', 'Poland', 105076658, 3, 52.2297, 21.0122],
  ['Kraków', 'Poland', 103263110, 2, 50.0647, 19.945],
  ['Prague', 'Czechia', 106978326, 2, 50.0755, 14.4378],
  ['Stockholm', 'Sweden', 106907071, 2, 59.3293, 18.0686],
  ['Copenhagen', 'Denmark', 102194656, 2, 55.6761, 12.5683],
  ['Oslo', 'Norway', 105719246, 1, 59.9139, 10.7522],
  ['Helsinki', 'Finland', 106591199, 1, 60.1699, 24.9384],
  ['Milan', 'Italy', 102873572, 3, 45.4642, 9.19],
  ['Rome', 'Italy', 104230862, 1, 41.9028, 12.4964],
  ['Athens', 'Greece', 106327242, 1, 37.9838, 23.7275],
  ['Istanbul', 'Türkiye', 106732692, 3, 41.0082, 28.9784],
  ['Tel Aviv', 'Israel', 101570771, 2, 32.0853, 34.7818],
  ['Dubai', 'United Arab Emirates', 106204383, 2, 25.2048, 55.2708],
  ['Mumbai', 'India', 106164952, 4, 19.076, 72.8777],
  ['Bengaluru', 'India', 105214831, 5, 12.9716, 77.5946],
  ['Singapore', 'Singapore', 102454443, 4, 1.3521, 103.8198],
  ['Tokyo', 'Japan', 102661493, 2, 35.6762, 139.6503],
  ['Seoul', 'South Korea', 105149562, 2, 37.5665, 126.978],
  ['Sydney', 'Australia', 104769905, 3, -33.8688, 151.2093],
  ['São Paulo', 'Brazil', 105871508, 4, -23.5558, -46.6396],
  ['Buenos Aires', 'Argentina', 107889789, 2, -34.6037, -58.3816],
  ['Mexico City', 'Mexico', 90009659, 2, 19.4326, -99.1332],
  ['Toronto', 'Canada', 90009551, 4, 43.6532, -79.3832],
  ['Chicago', 'United States', 90000014, 3, 41.8781, -87.6298],
  ['Austin', 'United States', 90000064, 3, 30.2672, -97.7431],
];

export const PLACES: readonly City[] = PLACE_ROWS.map(([city, country, geo, weight, latitude, longitude]) => ({
  city,
  country,
  geo: String(geo),
  weight,
  latitude,
  longitude,
}));

/** A business location of a company, with the codes of filings; some are abroad. */
export interface UsState {
  readonly code: string;
  readonly city: string;
  readonly weight: number;
}

export const STATES: readonly UsState[] = [
  { code: 'CA', city: 'San Jose', weight: 16 },
  { code: 'NY', city: 'New York', weight: 13 },
  { code: 'TX', city: 'Houston', weight: 11 },
  { code: 'MA', city: 'Boston', weight: 7 },
  { code: 'FL', city: 'Miami', weight: 6 },
  { code: 'IL', city: 'Chicago', weight: 6 },
  { code: 'NJ', city: 'Newark', weight: 5 },
  { code: 'PA', city: 'Pittsburgh', weight: 5 },
  { code: 'WA', city: 'Seattle', weight: 4 },
  { code: 'GA', city: 'Atlanta', weight: 4 },
  { code: 'OH', city: 'Columbus', weight: 4 },
  { code: 'CO', city: 'Denver', weight: 4 },
  { code: 'VA', city: 'Richmond', weight: 3 },
  { code: 'MN', city: 'Saint Paul', weight: 3 },
  { code: 'NC', city: 'Charlotte', weight: 3 },
  { code: 'NV', city: 'Reno', weight: 2 },
  { code: 'UT', city: 'Provo', weight: 2 },
  { code: 'AR', city: 'Little Rock', weight: 1 },
  { code: 'AK', city: 'Anchorage', weight: 1 },
  { code: 'X0', city: 'London', weight: 3 },
  { code: '2M', city: 'Munich', weight: 2 },
  { code: 'L2', city: 'Dublin', weight: 2 },
  { code: 'A6', city: 'Toronto', weight: 2 },
  { code: 'F4', city: 'Shanghai', weight: 2 },
];
