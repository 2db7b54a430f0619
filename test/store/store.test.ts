import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const folder = join(import.meta.dirname, '../../lib/store')

/** What is asked without an account, and why. */
const withoutAccount: Record<string, readonly string[]> = {
  'finds out who somebody is': [
    'signIn',
    'renewToken',
    'findBearer',
    'pollPairing',
    'readPairing',
    'answerPairing',
    'addPairingRequest',
    'readPairingRequest',
    'pollPairingRequest',
    'approvePairingRequest',
    'rejectPairingRequest',
    'readStanding',
    'askSignup',
    'openInvite'
  ],
  'is the owner of the server deciding who may come in': [
    'hasAccounts',
    'listAccounts',
    'listSignups',
    'decideSignup',
    'addInvite',
    'listInvites',
    'removeInvite',
    'holdLegacyLogins'
  ],
  'names the account, token or delivery of each row it marks': ['markActive', 'markTokensUsed', 'endDeliveries'],
  'is the server itself over all accounts': [
    'sweepActive',
    'sweepLeftovers',
    'movePairings',
    'sweepPairings',
    'countExpired',
    'endExpiredTokens',
    'recentRevocations',
    'readClocks',
    'keepSecret',
    'forgetSecret',
    'claimWork',
    'time',
    'removeOldSessions',
    'claimDeliveries',
    'nextDelivery',
    'forgetNotices',
    'close'
  ]
}

t.test('every store method that touches account data takes the account first, by its type [I6]', async t => {
  const methods = methodsOf(globSync('**/*.ts', { cwd: folder }).map(file => readFileSync(join(folder, file), 'utf8')))
  t.ok(methods.size > 40, `${methods.size} methods`)
  const known = Object.values(withoutAccount).flat()
  const others = [...methods].filter(([name, first]) => first !== 'account: AccountId' && !known.includes(name))
  t.same(others, [])
})

/** The first parameter of each method of `Store` and of the interfaces it is made of. */
function methodsOf(sources: string[]): Map<string, string> {
  const all = sources.join('\n')
  const extended = /interface Store\s+extends ([^{]*)\{/.exec(all)?.[1]?.split(',') ?? []
  const names = ['Store', ...extended.map(name => name.trim())]
  return new Map(names.flatMap(name => membersOf(all, name)))
}

function membersOf(all: string, name: string): [string, string][] {
  const body = new RegExp(`interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(all)?.[1]
  if (body === undefined) throw new Error(`${name} is declared nowhere.`)
  return [...body.matchAll(/^ {2}(\w+)\(\s*([^,)]*)/gm)].map(([, method = '', first = '']) => [method, first.trim()])
}
