import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import { DomainError } from '../errors.ts';
import { parseActuatorId, parseDeviceId, parseSensorId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Device } from './device.ts';
import { matches, narrowingOf, parseFilter } from './query-evaluation.ts';

function aDevice(parts: Partial<Device> = {}): Device {
  return {
    id: parseDeviceId('Station-1'),
    owner: parseUsername('ada@farm.org'),
    gatewayId: 'gw_01',
    name: 'Weather station; north',
    domain: 'farm.north',
    location: { latitude: 5.36, longitude: -4.01 },
    meta: parseJson(
      '{"crop":"rice","rows":12,"soil":{"ph":"6.5"},"a.b":1,"soil.kind":"clay","tags":["wet",7]}',
    ),
    isDeployed: true,
    sensors: [{ id: parseSensorId('TC1') }, { id: parseSensorId('urn:dev:1.t') }],
    actuators: [{ id: parseActuatorId('pump') }],
    createdAt: Date.parse('2024-05-01T10:00:00Z'),
    modifiedAt: Date.parse('2024-06-01T10:00:00.500Z'),
    ...parts,
  };
}

const lastValues: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['TC1', 25.5],
  ['TEXT', '25'],
  ['STATE', 'error'],
  ['ON', true],
  ['NOTHING', null],
  ['BIG', parseJson('12345678901234567890')],
  ['LIST', [1, 50, 'x']],
  ['OBJECT', { a: 1 }],
  ['urn:dev:1.t', 8],
  ['a-b_c|d', 3],
  ['meta.virtual', 4],
  ['name', 99],
]);

function check(source: string, expected: boolean, device: Device = aDevice()): void {
  const passed = matches(parseFilter(source), device, (sensorId) => lastValues.get(sensorId));
  assert.equal(passed, expected, source);
}

const passing = (...sources: string[]) => {
  for (const source of sources) check(source, true);
};
const failing = (...sources: string[]) => {
  for (const source of sources) check(source, false);
};

test('a field equals a text, written with ==, = or a colon', () => {
  passing(
    'owner==ada@farm.org',
    'owner=ada@farm.org',
    'owner:ada@farm.org',
    ' owner == ada@farm.org ',
  );
  failing('owner==ada', 'owner:eve', 'owner==Ada@farm.org');
  passing(
    'domain==farm.north',
    'gateway_id==gw_01',
    'id==Station-1',
    "name=='Weather station; north'",
  );
});

test('tests joined by semicolons must all pass, and blank ones do not count', () => {
  passing('id==Station-1;TC1>20', 'TC1>20;', ';;TC1>20; ;', '', '   ');
  failing('id==Station-1;TC1>30', 'id==other;TC1>20');
});

test('numbers and text that is a number compare as numbers', () => {
  passing(
    'TC1 > 25',
    'TC1>=25.5',
    'TC1<=25.50',
    'TC1 < 1e2',
    'TC1==25.5',
    'TC1==2.55e1',
    'TC1!=25',
  );
  failing('TC1>25.5', 'TC1<25.5', 'TC1==25', 'TC1!=25.5');
  passing('TEXT>24', 'TEXT==25.0', 'TEXT<100', 'meta.soil.ph>6', 'location.longitude<-4');
  passing('BIG>1e19', 'BIG==12345678901234567890');
});

test('text that is no number is neither above nor below a number', () => {
  failing('STATE>30', 'STATE<30', 'STATE>=30', 'STATE==0..100', 'ON>0', 'NOTHING<1', 'OBJECT>0');
  passing('STATE!=30', 'STATE>a', 'STATE<f', 'STATE==error');
});

test('quotes force text', () => {
  passing("TC1=='25.5'", "TEXT=='25'", "STATE=='error'", "TEXT<'3'");
  failing("TC1=='25.50'", "TEXT=='25.0'", "TEXT<'100'");
  check("name=='it''s; <a=b>, ok..'", true, aDevice({ name: "it's; <a=b>, ok.." }));
  check("name==''", true, aDevice({ name: '' }));
});

test('a comma list passes with any of its values, a range with its ends and all between', () => {
  passing('domain==x,farm.north', "domain=='x' , 'farm.north'", 'TC1==1,2,20..30', 'TC1==25.5..30');
  passing('TC1==20..25.5', 'TC1==-5..1e3', 'domain==a..g', 'domain==farm.north..farm.north');
  failing('domain==x,y', 'TC1==26..30', 'TC1==30..20', 'domain==g..z');
  passing('TC1!=1,2', 'TC1!=26..30');
  failing('TC1!=1,25.5', 'TC1!=20..30');
});

test('a bare name asks for existence, a bang for absence', () => {
  passing('gateway_id', 'location', 'location.latitude', 'meta.crop', 'TC1', 'NOTHING', '!nope');
  passing('! meta.nope', '!location.altitude', 'sensors', "'TC1'", "!'urn:x'", 'a-b_c|d');
  failing('nope', '!owner', '!TC1', 'meta.nope', 'meta.soil.nope');
  const bare = aDevice({ sensors: [], actuators: [] });
  check('!sensors;!actuators', true, bare);
});

test('an unknown field matches nothing but its absence', () => {
  failing('nope==1', 'nope!=1', 'nope<1', 'nope>1', 'nope~=.*', "nope==''", 'nope==a..z');
});

test('a pattern is searched in the text of a value', () => {
  passing('name~=^Weather', 'name ~= (?i)NORTH$', 'TC1~=^25', 'id~=a,b|St.*=?', "name~='n; n'");
  failing('name~=^north', 'OBJECT~=.*', 'owner~=^a$');
  passing('date_created~=^2024-05');
});

test('booleans, null, lists and objects compare as users write them', () => {
  passing('deployed==true', 'ON==true', 'ON!=false', 'NOTHING==null', "ON=='true'");
  failing('deployed==false', 'ON==1', 'OBJECT==1');
  passing('LIST==50', 'LIST>40', 'LIST~=x', 'LIST!=2', 'meta.tags==wet', 'OBJECT!=1', 'LIST');
  failing('LIST==2', 'LIST>50', 'LIST!=50', '!LIST');
  passing('sensors==TC1', 'sensors==nope,TC1', 'actuators==pump', "sensors=='urn:dev:1.t'");
});

test('times compare as times, whatever their spelling', () => {
  passing('date_created==2024-05-01T12:00:00+02:00', 'date_created>2024-05-01', 'date_created');
  passing("date_created:'2024-05-01T10:00Z'", 'date_created==2024-04-01..2024-05-01T10:00:00.000Z');
  passing('date_modified>=2024-06-01T10:00:00.5Z', 'date_created!=2024-05-01');
  failing('date_created>2024-05-01T10:00:00Z', 'date_modified<2024', '!date_created');
});

test('visibility that was never set is public', () => {
  passing('visibility==public', 'visibility');
  check('visibility==public', false, aDevice({ visibility: 'private' }));
});

test('objects are entered by dots, also past keys that hold dots', () => {
  passing('meta.a.b==1', 'meta.soil.kind==clay', 'meta.soil.ph==6.5', 'meta');
  failing('meta.constructor', 'meta.__proto__', 'meta.toString', 'meta.tags.length', 'meta.tags.0');
  failing('location.constructor', 'meta.', 'meta..', 'meta.crop.length');
});

test('a field of the device comes before a sensor of the same name', () => {
  passing('meta.virtual==4');
  failing('name==99');
  check('name', false, aDevice({ name: undefined } as unknown as Device));
});

test('a sensor id may hold colons when another operator or quotes tell it apart', () => {
  passing('urn:dev:1.t>7', 'urn:dev:1.t == 8', "'urn:dev:1.t':8", 'urn:dev:1.t!=7', 'TC1:25.5');
  failing('urn:dev:1.t:8');
  passing('owner:ada@farm.org;id!=x', 'date_created:2024-05-01T10:00:00Z');
});

test('an unknown field matches nothing, whatever its name, and one = is ==', () => {
  failing('TC1(0)', '(TC1>1;owner==ada@farm.org)', '(TC1)', 'name=~^Weather');
  passing('!TC1(0)', '!(TC1)');
  check('name=~x', true, aDevice({ name: '~x' }));
});

test('a malformed filter is refused at its spot', () => {
  const cases: [string, string][] = [
    ['TC1 >', 'q is malformed at character 6: expected a value'],
    ['TC1==a;==3', 'q is malformed at character 8: expected a field name, got "="'],
    ["owner=='ada", 'q is malformed at character 8: the quote that opens here never closes'],
    ["owner=='ada'x", 'q is malformed at character 13: expected ; or the end, got "x"'],
    ['owner==a=b', 'q is malformed at character 9: expected ; or the end, got "="'],
    ['owner===a', 'q is malformed at character 8: expected a value'],
    ['TC1==1,,2', 'q is malformed at character 8: expected a value'],
    ['TC1==1..', 'q is malformed at character 9: expected a value'],
    ['TC1==..1', 'q is malformed at character 6: expected a value'],
    ['TC1==1..2..3', 'q is malformed at character 10: expected ; or the end, got "."'],
    ['TC1>1,2', 'q is malformed at character 6: expected ; or the end, got ","'],
    ['TC1>1..2', 'q is malformed at character 6: expected ; or the end'],
    ['1<TC1<3', 'q is malformed at character 6: expected ; or the end, got "<"'],
    ['!owner==x', 'q is malformed at character 7: expected ; or the end'],
    ['!', 'q is malformed at character 2: expected a field name, got the end'],
    ["''==3", 'q is malformed at character 3: expected a field name'],
    ['name~=', 'q is malformed at character 7: expected a regular expression'],
    ['id;name~= (a', 'q is malformed at character 11: the pattern is malformed: missing closing )'],
    ['owner==😀<', 'q is malformed at character 10: expected ; or the end'],
  ];
  for (const [source, message] of cases) {
    assert.throws(
      () => parseFilter(source),
      (error) =>
        error instanceof DomainError &&
        error.code === 'invalid' &&
        error.message.startsWith(message),
      source,
    );
  }
});

test('a filter is bounded in length, tests and patterns', () => {
  const long = (length: number) => `owner==${'x'.repeat(length - 'owner=='.length)}`;
  check(long(limits.queryCharactersMax), false);
  assert.throws(() => parseFilter(long(limits.queryCharactersMax + 1)), /at most 4096 characters/);
  const tests = (count: number) => Array.from({ length: count }, () => 'TC1>1').join(';');
  check(tests(limits.queryTestsMax), true);
  assert.throws(() => parseFilter(tests(limits.queryTestsMax + 1)), /at most 64 tests/);
  const pattern = (length: number) => `name~=${'x'.repeat(length)}`;
  assert.throws(() => parseFilter(pattern(limits.patternCharactersMax + 1)), /longer than 512/);
  assert.throws(() => parseFilter('name~=(x{100}){10}'), /too large/);
});

test('only single texts of narrow fields, and ids, are required to be equal', () => {
  const required = (source: string) => [...narrowingOf(parseFilter(source)).equals];
  assert.deepEqual(required("owner==ada;gateway_id:'7';domain = d ; id==x;name==n;TC1==a"), [
    ['owner', 'ada'],
    ['gateway_id', '7'],
    ['domain', 'd'],
  ]);
  assert.deepEqual(required('owner==a,b;domain==a..b;id!=x;id~=x;owner;name==7'), []);
  assert.deepEqual(required('gateway_id==7'), [['gateway_id', '7']]);
  assert.deepEqual(required('owner==ada;owner==eve'), [['owner', 'ada']]);
  assert.deepEqual(narrowingOf(parseFilter('id==x,y')).ids, ['x', 'y']);
  assert.equal(narrowingOf(parseFilter('id==x..y,z')).ids, undefined);
});

test('a filter that stores answer alone asks for nothing else', () => {
  const isAll = (source: string) => narrowingOf(parseFilter(source)).isAll;
  for (const source of ['', 'owner==ada', 'id==x,y', 'id==x;domain==d;gateway_id==g']) {
    assert.equal(isAll(source), true, source);
  }
  for (const source of ['owner==a,b', 'owner==a;owner==b', 'id==x;id==y', 'name==n', 'id~=x']) {
    assert.equal(isAll(source), false, source);
  }
  // A store may hold another text as this character.
  assert.equal(isAll('domain==\ufffd'), false);
});

test('hostile filters are refused with DomainError or evaluated, never anything else', () => {
  const pieces = ['==', '=', '!', '<', '>=', '~=', ':', ';', ',', '..', "'", "''", ' ', '(', 'a'];
  const piece = fc.constantFrom(...pieces, 'owner', 'TC1', 'meta.', '25', '__proto__', '\0', '😀');
  const source = fc.oneof(
    fc.string({ maxLength: 40, unit: 'binary' }),
    fc.array(piece, { maxLength: 14 }).map((texts) => texts.join('')),
  );
  fc.assert(
    fc.property(source, (text) => {
      try {
        matches(parseFilter(text), aDevice(), (sensorId) => lastValues.get(sensorId));
      } catch (reason) {
        assert.ok(reason instanceof DomainError, String(reason));
        assert.equal(reason.code, 'invalid');
      }
    }),
    { numRuns: 2_000 },
  );
  for (const part of [...pieces, 'a==1,', 'a.', "a=='x'", '!a;', 'meta.a.']) {
    const long = part.repeat(Math.ceil(10_000 / part.length));
    assert.throws(() => parseFilter(long), DomainError);
    const fitting = long.slice(0, limits.queryCharactersMax);
    try {
      matches(parseFilter(fitting), aDevice(), () => 1);
    } catch (reason) {
      assert.ok(reason instanceof DomainError, String(reason));
    }
  }
});
