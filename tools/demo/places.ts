/** One season of rain, strongest on `day` of the year and fading over `spanDays` to both sides. */
export interface RainySeason {
  readonly day: number;
  readonly spanDays: number;
  /** Of rain on one day, at the height of the season. */
  readonly chance: number;
}

/** A real place and its weather over the year, roughly. */
export interface Place {
  /** Part of device ids. */
  readonly slug: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitudeM: number;
  /** Yearly mean of the air. */
  readonly meanC: number;
  /** How far the warmest weeks are above that mean. */
  readonly seasonC: number;
  readonly warmestDay: number;
  /** Between a clear night and its afternoon, half of the difference. */
  readonly dailyC: number;
  /** How far the dew point stays below the mean of the air, in the dry and in the rainy season. */
  readonly dewGapC: readonly [number, number];
  readonly rains: readonly RainySeason[];
}

/** Where the devices of the demo stand. */
export const places: readonly Place[] = [
  {
    ...{ slug: 'accra', name: 'Accra', latitude: 5.6037, longitude: -0.187, altitudeM: 61 },
    ...{ meanC: 27.2, seasonC: 1.8, warmestDay: 75, dailyC: 3.2, dewGapC: [5, 3] },
    rains: [
      { day: 165, spanDays: 42, chance: 0.5 },
      { day: 285, spanDays: 28, chance: 0.35 },
    ],
  },
  {
    ...{ slug: 'bobo-dioulasso', name: 'Bobo-Dioulasso' },
    ...{ latitude: 11.1771, longitude: -4.2979, altitudeM: 460 },
    ...{ meanC: 27.4, seasonC: 3.4, warmestDay: 95, dailyC: 6.2, dewGapC: [17, 5] },
    rains: [{ day: 222, spanDays: 50, chance: 0.62 }],
  },
  {
    ...{ slug: 'kumasi', name: 'Kumasi', latitude: 6.6885, longitude: -1.6244, altitudeM: 270 },
    ...{ meanC: 26.1, seasonC: 1.7, warmestDay: 65, dailyC: 4.3, dewGapC: [5, 2.6] },
    rains: [
      { day: 160, spanDays: 45, chance: 0.58 },
      { day: 272, spanDays: 30, chance: 0.5 },
    ],
  },
  {
    ...{ slug: 'dakar', name: 'Dakar', latitude: 14.7167, longitude: -17.4677, altitudeM: 22 },
    ...{ meanC: 24.6, seasonC: 3.6, warmestDay: 262, dailyC: 3, dewGapC: [8, 3.4] },
    rains: [{ day: 237, spanDays: 34, chance: 0.45 }],
  },
  {
    ...{ slug: 'kisumu', name: 'Kisumu', latitude: -0.0917, longitude: 34.768, altitudeM: 1_131 },
    ...{ meanC: 23.2, seasonC: 1, warmestDay: 50, dailyC: 5.6, dewGapC: [8, 5] },
    rains: [
      { day: 110, spanDays: 36, chance: 0.58 },
      { day: 318, spanDays: 28, chance: 0.45 },
    ],
  },
  {
    ...{ slug: 'saint-louis', name: 'Saint-Louis' },
    ...{ latitude: 16.0326, longitude: -16.4818, altitudeM: 4 },
    ...{ meanC: 25.4, seasonC: 3.2, warmestDay: 265, dailyC: 5.2, dewGapC: [12, 4] },
    rains: [{ day: 242, spanDays: 30, chance: 0.36 }],
  },
  {
    ...{ slug: 'nairobi', name: 'Nairobi', latitude: -1.2921, longitude: 36.8219 },
    ...{ altitudeM: 1_795, meanC: 18.9, seasonC: 1.8, warmestDay: 60, dailyC: 5.4 },
    dewGapC: [7, 4],
    rains: [
      { day: 112, spanDays: 28, chance: 0.6 },
      { day: 318, spanDays: 28, chance: 0.52 },
    ],
  },
  {
    ...{ slug: 'lome', name: 'Lomé', latitude: 6.1319, longitude: 1.2228, altitudeM: 10 },
    ...{ meanC: 27, seasonC: 1.7, warmestDay: 78, dailyC: 3.4, dewGapC: [4.6, 2.8] },
    rains: [
      { day: 162, spanDays: 40, chance: 0.48 },
      { day: 280, spanDays: 26, chance: 0.35 },
    ],
  },
  {
    ...{ slug: 'dodoma', name: 'Dodoma', latitude: -6.163, longitude: 35.7516, altitudeM: 1_120 },
    ...{ meanC: 22.7, seasonC: 1.9, warmestDay: 320, dailyC: 6, dewGapC: [11, 5] },
    rains: [{ day: 18, spanDays: 56, chance: 0.44 }],
  },
  {
    ...{ slug: 'maputo', name: 'Maputo', latitude: -25.9692, longitude: 32.5732, altitudeM: 47 },
    ...{ meanC: 23, seasonC: 3.6, warmestDay: 30, dailyC: 4.6, dewGapC: [6.5, 4] },
    rains: [{ day: 25, spanDays: 60, chance: 0.38 }],
  },
  {
    ...{ slug: 'kigali', name: 'Kigali', latitude: -1.9441, longitude: 30.0619 },
    ...{ altitudeM: 1_567, meanC: 20.3, seasonC: 0.8, warmestDay: 230, dailyC: 5.2 },
    dewGapC: [7.5, 4],
    rains: [
      { day: 102, spanDays: 36, chance: 0.6 },
      { day: 315, spanDays: 36, chance: 0.52 },
    ],
  },
  {
    ...{ slug: 'garoua', name: 'Garoua', latitude: 9.3265, longitude: 13.3847, altitudeM: 242 },
    ...{ meanC: 28.2, seasonC: 4, warmestDay: 100, dailyC: 6.4, dewGapC: [19, 5] },
    rains: [{ day: 225, spanDays: 44, chance: 0.6 }],
  },
];
