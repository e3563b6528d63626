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

const place = (
  city: string,
  country: string,
  geo: number,
  weight: number,
  latitude: number,
  longitude: number,
): City => ({
  city,
  country,
  geo: String(geo),
  weight,
  latitude,
  longitude,
});

export const PLACES: readonly City[] = [
  place('Berlin', 'Germany', 106967730, 9, 52.52, 13.405),
  place('Paris', 'France', 106383538, 9, 48.8566, 2.3522),
  place('London', 'United Kingdom', 90009496, 9, 51.5072, -0.1276),
  place('New York', 'United States', 90000070, 7, 40.7128, -74.006),
  place('San Francisco', 'United States', 90000084, 6, 37.7749, -122.4194),
  place('Munich', 'Germany', 100477049, 4, 48.1351, 11.582),
  place('Hamburg', 'Germany', 106430557, 3, 53.5511, 9.9937),
  place('Lyon', 'France', 103815258, 2, 45.764, 4.8357),
  place('Amsterdam', 'Netherlands', 102011674, 4, 52.3676, 4.9041),
  place('Madrid', 'Spain', 103374081, 3, 40.4168, -3.7038),
  place('Barcelona', 'Spain', 107025191, 3, 41.3874, 2.1686),
  place('Lisbon', 'Portugal', 106930979, 2, 38.7223, -9.1393),
  place('Dublin', 'Ireland', 105178154, 3, 53.3498, -6.2603),
  place('Zürich', 'Switzerland', 102436504, 2, 47.3769, 8.5417),
  place('Vienna', 'Austria', 107144641, 2, 48.2082, 16.3738),
  place('Warsaw', 'Poland', 105076658, 3, 52.2297, 21.0122),
  place('Kraków', 'Poland', 103263110, 2, 50.0647, 19.945),
  place('Prague', 'Czechia', 106978326, 2, 50.0755, 14.4378),
  place('Stockholm', 'Sweden', 106907071, 2, 59.3293, 18.0686),
  place('Copenhagen', 'Denmark', 102194656, 2, 55.6761, 12.5683),
  place('Oslo', 'Norway', 105719246, 1, 59.9139, 10.7522),
  place('Helsinki', 'Finland', 106591199, 1, 60.1699, 24.9384),
  place('Milan', 'Italy', 102873572, 3, 45.4642, 9.19),
  place('Rome', 'Italy', 104230862, 1, 41.9028, 12.4964),
  place('Athens', 'Greece', 106327242, 1, 37.9838, 23.7275),
  place('Istanbul', 'Türkiye', 106732692, 3, 41.0082, 28.9784),
  place('Tel Aviv', 'Israel', 101570771, 2, 32.0853, 34.7818),
  place('Dubai', 'United Arab Emirates', 106204383, 2, 25.2048, 55.2708),
  place('Mumbai', 'India', 106164952, 4, 19.076, 72.8777),
  place('Bengaluru', 'India', 105214831, 5, 12.9716, 77.5946),
  place('Singapore', 'Singapore', 102454443, 4, 1.3521, 103.8198),
  place('Tokyo', 'Japan', 102661493, 2, 35.6762, 139.6503),
  place('Seoul', 'South Korea', 105149562, 2, 37.5665, 126.978),
  place('Sydney', 'Australia', 104769905, 3, -33.8688, 151.2093),
  place('São Paulo', 'Brazil', 105871508, 4, -23.5558, -46.6396),
  place('Buenos Aires', 'Argentina', 107889789, 2, -34.6037, -58.3816),
  place('Mexico City', 'Mexico', 90009659, 2, 19.4326, -99.1332),
  place('Toronto', 'Canada', 90009551, 4, 43.6532, -79.3832),
  place('Chicago', 'United States', 90000014, 3, 41.8781, -87.6298),
  place('Austin', 'United States', 90000064, 3, 30.2672, -97.7431),
];

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
