/** Regions with the codes that their telephone numbers begin with [ITU-T E.164]. */
const table =
  'AD376 AE971 AF93 AG1 AI1 AL355 AM374 AO244 AR54 AS1 AT43 AU61 AW297 AZ994 BA387 BB1 BD880 ' +
  'BE32 BF226 BG359 BH973 BI257 BJ229 BM1 BN673 BO591 BR55 BS1 BT975 BW267 BY375 BZ501 CA1 ' +
  'CD243 CF236 CG242 CH41 CI225 CK682 CL56 CM237 CN86 CO57 CR506 CU53 CV238 CY357 CZ420 DE49 ' +
  'DJ253 DK45 DM1 DO1 DZ213 EC593 EE372 EG20 ER291 ES34 ET251 FI358 FJ679 FK500 FM691 FO298 ' +
  'FR33 GA241 GB44 GD1 GE995 GF594 GH233 GI350 GL299 GM220 GN224 GP590 GQ240 GR30 GT502 GU1 ' +
  'GW245 GY592 HK852 HN504 HR385 HT509 HU36 ID62 IE353 IL972 IN91 IQ964 IR98 IS354 IT39 JM1 ' +
  'JO962 JP81 KE254 KG996 KH855 KI686 KM269 KN1 KP850 KR82 KW965 KY1 KZ7 LA856 LB961 LC1 ' +
  'LI423 LK94 LR231 LS266 LT370 LU352 LV371 LY218 MA212 MC377 MD373 ME382 MG261 MH692 MK389 ' +
  'ML223 MM95 MN976 MO853 MQ596 MR222 MS1 MT356 MU230 MV960 MW265 MX52 MY60 MZ258 NA264 NC687 ' +
  'NE227 NG234 NI505 NL31 NO47 NP977 NR674 NZ64 OM968 PA507 PE51 PF689 PG675 PH63 PK92 PL48 ' +
  'PM508 PR1 PS970 PT351 PW680 PY595 QA974 RE262 RO40 RS381 RU7 RW250 SA966 SB677 SC248 SD249 ' +
  'SE46 SG65 SH290 SI386 SK421 SL232 SM378 SN221 SO252 SR597 SS211 ST239 SV503 SY963 SZ268 ' +
  'TC1 TD235 TG228 TH66 TJ992 TL670 TM993 TN216 TO676 TR90 TT1 TV688 TW886 TZ255 UA380 UG256 ' +
  'US1 UY598 UZ998 VC1 VE58 VG1 VI1 VN84 VU678 WS685 XK383 YE967 YT262 ZA27 ZM260 ZW263';

/** The codes by region: SN is 221. */
export const dialCodes: ReadonlyMap<string, string> = new Map(
  table.split(' ').map((entry) => [entry.slice(0, 2), entry.slice(2)]),
);

/** Where a zero at the front of a number stays behind the code. */
const zeroStays: ReadonlySet<string> = new Set(['BJ', 'CG', 'CI', 'IT', 'SM']);
/** A shorter number is not whole yet. */
const digitsMin = 5;

const separators = /([,;\n]\s*)/;
const digitsOf = (text: string): string => text.replace(/\D/g, '');
const isLocal = (number: string): boolean =>
  !/^\s*(\+|00)/.test(number) && digitsOf(number).length >= digitsMin;

/** Whether one of these numbers lacks the code of its country. */
export const lacksDialCode = (numbers: string): boolean => numbers.split(separators).some(isLocal);

/** Puts the code of a region before each number that lacks one. */
export function withDialCode(numbers: string, region: string): string {
  const code = dialCodes.get(region) ?? '';
  return numbers
    .split(separators)
    .map((number) => {
      if (code === '' || !isLocal(number)) return number;
      const digits = digitsOf(number);
      // Somebody left only the plus out.
      if (digits.startsWith(code) && digits.length >= code.length + 8) return `+${number.trim()}`;
      const own = zeroStays.has(region) ? number : number.replace(/^\D*0/, '');
      return `+${code} ${own.trim()}`;
    })
    .join('');
}

/** Browsers on Linux also name tags that `Intl.Locale` refuses, such as en-US@posix. */
const regionTag = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})(?![a-z\d])/i;

/** The region that a browser is set to; undefined where its languages name none. */
export const regionOf = (languages: readonly string[]): string | undefined =>
  languages
    .map((tag) => regionTag.exec(tag)?.[1]?.toUpperCase())
    .find((region) => region !== undefined && dialCodes.has(region));
