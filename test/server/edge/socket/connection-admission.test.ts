import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import t from 'tap'
import { PreSignInSlots } from '../../../../lib/server/edge/listen/pre-sign-in-slots.ts'
import { Strangers } from '../../../../lib/server/edge/listen/strangers.ts'
import { ConnectionAdmission } from '../../../../lib/server/edge/socket/connection-admission.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const address = '192.0.2.7'

/** An admission with the real counts of strangers and of their slots, and a network where the largest packets are wanted. */
function open({ corsOrigin = '*', publicUrl }: { corsOrigin?: string; publicUrl?: string } = {}) {
  const clock = manualClock()
  const strangers = new Strangers({ limits: 'default' })
  const preSignInSlots = new PreSignInSlots({ limits: 'default' }, { clock })
  const hinted: string[] = []
  let packetSize: 'small' | 'usual' | 'large' = 'usual'
  const networks: string[] = []
  const admission = new ConnectionAdmission({
    strangers,
    isProxy: () => false,
    hint: from => void hinted.push(from),
    preSignInSlots,
    largePacketSlots: {
      packetSizeFor(network: string) {
        networks.push(network)
        return packetSize
      }
    },
    corsOrigin,
    publicAddress: { url: publicUrl === undefined ? undefined : new URL(publicUrl) }
  })
  const begin = (headers: Record<string, string> = {}) => {
    // What an admission reads of the library's own objects.
    const request = { getHeader: (name: string) => headers[name] ?? '' } as unknown as HttpRequest
    const bytes = new Uint8Array([192, 0, 2, 7]).buffer
    const response = { getRemoteAddress: () => bytes, getRemoteAddressAsText: () => Buffer.from(address) } as unknown as HttpResponse
    return admission.begin(response, request)
  }
  const admit = (headers?: Record<string, string>) => {
    const admitted = begin(headers)
    if (!admitted) throw new Error('Not admitted')
    return admitted
  }
  const choose = (admitted = admit()) => {
    const chosen: string[] = []
    const cancel = admission.choosePacketSize(admitted, size => chosen.push(size))
    return { admitted, chosen, cancel }
  }
  const set = (size: typeof packetSize) => {
    packetSize = size
  }
  return { clock, strangers, hinted, networks, begin, admit, choose, set, know: () => strangers.know(address) }
}

t.test('a connection counts as a stranger from the beginning to its sign-in or its end', t => {
  const { strangers, hinted, admit } = open()
  const admitted = admit()
  t.same([admitted.address, admitted.network, admitted.page], [address, '192.0.2', ''])
  t.same(hinted, [address])
  t.equal(strangers.count, 1)
  t.notOk(strangers.isKnown(address))
  admitted.signedIn()
  t.equal(strangers.count, 0)
  t.ok(strangers.isKnown(address))
  const other = admit()
  t.equal(strangers.count, 1)
  other.leave()
  t.equal(strangers.count, 0)
  t.end()
})

t.test('a page of another site is told apart, and rejected where sites are limited', t => {
  const table: [headers: Record<string, string>, page: string][] = [
    [{}, ''],
    [{ origin: 'https://other.example' }, 'https://other.example'],
    [{ origin: 'https://own.example', host: 'own.example' }, ''],
    [{ origin: 'http://own.example', host: 'own.example' }, ''],
    [{ origin: 'http://own.example:80', host: 'own.example' }, ''],
    [{ origin: 'https://own.example', host: 'own.example:443' }, ''],
    [{ origin: 'https://own.example:8443', host: 'own.example' }, 'https://own.example:8443'],
    [{ origin: 'https://public.example' }, ''],
    [{ origin: 'null' }, 'null'],
    [{ origin: 'null', host: 'nothing' }, 'null'],
    [{ origin: `https://${'x'.repeat(300)}.example` }, `https://${'x'.repeat(192)}`]
  ]
  for (const [headers, page] of table) {
    t.equal(open({ publicUrl: 'https://public.example' }).admit(headers).page, page, headers['origin'] ?? 'no origin')
    const limited = open({ corsOrigin: 'https://named.example', publicUrl: 'https://public.example' })
    t.equal(limited.begin(headers) === undefined, page !== '', headers['origin'] ?? 'no origin')
  }
  t.equal(open({ corsOrigin: 'https://named.example' }).admit({ origin: 'https://named.example' }).page, '')
  t.end()
})

t.test('only a known network may begin with large packets, for as long as a sign-in takes', t => {
  const { clock, networks, choose, set, know, strangers } = open()
  t.same(choose().chosen, ['small'])
  know()
  const { admitted, chosen } = choose()
  t.same(chosen, ['usual'])
  t.equal(admitted.preSignInSlot?.packetSize, 'usual')
  t.equal(networks[0], '192.0.2')
  set('small')
  const small = choose()
  t.same([small.chosen, small.admitted.preSignInSlot], [['small'], undefined])
  set('large')
  t.same(choose().chosen, ['large'])

  let late = 0
  admitted.onLate = () => {
    late += 1
  }
  clock.advance(4_999)
  t.equal(late, 0)
  t.ok(strangers.maySendLarge(address))
  clock.advance(1)
  t.equal(late, 1)
  t.notOk(strangers.maySendLarge(address))
  t.same(choose().chosen, ['small'], 'who was late has spoilt it for the network')
  t.end()
})

t.test('who signed in or left is not late, and keeps no slot', t => {
  for (const end of ['signedIn', 'leave'] as const) {
    const { clock, choose, know, strangers } = open()
    know()
    const { admitted } = choose()
    admitted.onCrowded = () => t.fail('it is not crowded')
    admitted[end]()
    if (end === 'signedIn') {
      t.equal(admitted.preSignInSlot, undefined)
      admitted.makeRoom()
    }
    clock.advance(5_000)
    t.ok(strangers.maySendLarge(address))
  }
  t.end()
})

t.test('who finds no slot waits for one, and may stop waiting', t => {
  const { clock, choose, know } = open()
  know()
  const many = () => Array.from({ length: 40 }, () => choose())
  const waiting = many().filter(({ chosen }) => chosen.length === 0)
  t.ok(waiting.length > 1)
  waiting[0]?.cancel()
  clock.advance(1_000)
  t.same(waiting[0]?.chosen, [])
  t.same(waiting[1]?.chosen, ['small'])
  t.equal(waiting[1]?.admitted.preSignInSlot, undefined)
  t.end()
})

t.test('who signed out stays as a stranger who makes room for others', t => {
  const { strangers, choose, know } = open()
  know()
  const { admitted } = choose()
  admitted.signedIn()
  let asked = 0
  const makeRoom = () => {
    asked += 1
  }
  t.ok(admitted.signedOut('small', makeRoom))
  t.equal(admitted.preSignInSlot, undefined)
  t.equal(strangers.count, 1)
  admitted.makeRoom()
  t.equal(asked, 1)
  admitted.leave()

  t.ok(admitted.signedOut('usual', makeRoom))
  t.equal(admitted.preSignInSlot?.packetSize, 'usual')
  let isPlace = true
  for (let taken = 0; isPlace && taken < 1_000; taken += 1) isPlace = choose().admitted.signedOut('large', makeRoom)
  t.notOk(isPlace, 'unless there is no place for packets as large')
  t.end()
})
