/** Lakes that maps name: what each is called after its kind, and a point on its water. */
export interface LakeName {
  /** In English; other languages follow where they differ, as `fr:Tchad`. */
  readonly name: string;
  readonly longitude: number;
  readonly latitude: number;
}

const lines = `
Victoria|pt:Vitória|sw:Viktoria 33 -1
Tanganyika|pt:Tanganica 29.6 -6.2
Malawi 34.6 -12
Turkana 36.1 3.6
Albert|pt:Alberto|sw:Albert 31 1.7
Edward|fr:Édouard|pt:Eduardo 29.6 -0.35
Kivu 29.1 -2
Kyoga 33 1.5
Mweru|fr:Moero|pt:Mueru 28.7 -9
Bangweulu 29.8 -11.1
Rukwa 32.05 -7.76
Tana 37.3 12
Chad|fr:Tchad|pt:Chade 14.4 13
Volta 0.14 6.7
Kariba 28 -16.9
Kainji 4.6 10.4
Mai-Ndombe 18.02 -0.75
Abaya 37.9 6.4
Superior|fr:Supérieur 87.5W 47.7
Michigan 87W 44
Huron 82.3W 44.8
Erie|fr:Érié|pt:Erie 81W 42.2
Ontario|pt:Ontário 77.8W 43.6
Winnipeg 97.5W 52.3
Athabasca 109.7W 59.2
Nicaragua|pt:Nicarágua 85.4W 11.5
Titicaca 69.4W -15.8
Baikal|fr:Baïkal|pt:Baical 108 53.5
Balkhash|fr:Balkhach|pt:Balcash 74.2 45.5
Ladoga 31.4 60.8
Onega 35.5 61.6
Vänern 13.3 58.9
Vättern 14.6 58.3
Peipus|fr:Peïpous 27.5 58.6
Van 43 38.6
Urmia|fr:Ourmia 45.4 37.6
Sevan 45.3 40.3
Issyk-Kul|fr:Issyk-Koul 77.2 42.4
Qinghai 100.2 36.9
Tonlé Sap 104.1 12.9
Taupo 175.9 -38.8
`;

const text = /^(?<name>.+) (?<longitude>[\d.-]+)(?<west>W?) (?<latitude>[\d.-]+)$/;

/** The lakes by their places. */
export const lakeNames: readonly LakeName[] = lines
  .trim()
  .split('\n')
  .map((line) => {
    const { name = '', longitude, west, latitude } = text.exec(line)?.groups ?? {};
    const sign = west === 'W' ? -1 : 1;
    return { name, longitude: sign * Number(longitude), latitude: Number(latitude) };
  });
