import type { Language } from './languages.ts';

const english = {
  airTemperature: 'Air temperature',
  airHumidity: 'Air humidity',
  soilMoisture: 'Soil moisture',
  soilTemperature: 'Soil temperature',
  waterLevel: 'Water level',
  waterTemperature: 'Water temperature',
  rain: 'Rain',
  light: 'Light',
  battery: 'Battery',
  switch: 'On or off',
  pressure: 'Air pressure',
  carbonDioxide: 'CO₂',
  wind: 'Wind speed',
  acidity: 'pH',
  power: 'Power',
  energy: 'Energy meter',
} as const;

/** A sensor that many devices have. */
export type UsualName = keyof typeof english;

/** Names that the dashboard gives to sensors, by language. */
export const usualNames: Readonly<Record<Language, Readonly<Record<UsualName, string>>>> = {
  en: english,
  fr: {
    airTemperature: 'Température de l’air',
    airHumidity: 'Humidité de l’air',
    soilMoisture: 'Humidité du sol',
    soilTemperature: 'Température du sol',
    waterLevel: 'Niveau d’eau',
    waterTemperature: 'Température de l’eau',
    rain: 'Pluie',
    light: 'Lumière',
    battery: 'Batterie',
    switch: 'Allumé ou éteint',
    pressure: 'Pression de l’air',
    carbonDioxide: 'CO₂',
    wind: 'Vitesse du vent',
    acidity: 'pH',
    power: 'Puissance',
    energy: 'Compteur d’énergie',
  },
  sw: {
    airTemperature: 'Joto la hewa',
    airHumidity: 'Unyevu wa hewa',
    soilMoisture: 'Unyevu wa udongo',
    soilTemperature: 'Joto la udongo',
    waterLevel: 'Kiwango cha maji',
    waterTemperature: 'Joto la maji',
    rain: 'Mvua',
    light: 'Mwanga',
    battery: 'Betri',
    switch: 'Imewashwa au imezimwa',
    pressure: 'Shinikizo la hewa',
    carbonDioxide: 'CO₂',
    wind: 'Kasi ya upepo',
    acidity: 'pH',
    power: 'Nguvu ya umeme',
    energy: 'Mita ya umeme',
  },
  pt: {
    airTemperature: 'Temperatura do ar',
    airHumidity: 'Humidade do ar',
    soilMoisture: 'Humidade do solo',
    soilTemperature: 'Temperatura do solo',
    waterLevel: 'Nível da água',
    waterTemperature: 'Temperatura da água',
    rain: 'Chuva',
    light: 'Luz',
    battery: 'Bateria',
    switch: 'Ligado ou desligado',
    pressure: 'Pressão do ar',
    carbonDioxide: 'CO₂',
    wind: 'Velocidade do vento',
    acidity: 'pH',
    power: 'Potência',
    energy: 'Contador de energia',
  },
};

/** By each of these names in any language, which sensor has it. */
const byName: ReadonlyMap<string, UsualName> = new Map(
  Object.values(usualNames).flatMap((names) =>
    Object.entries(names).map(([text, name]) => [name, text as UsualName] as const),
  ),
);

/** The name of a sensor in a language, if it is one that the dashboard gave; else as it is. */
export function inReadersWords(name: string, language: Language): string {
  const text = byName.get(name);
  return text === undefined ? name : usualNames[language][text];
}
