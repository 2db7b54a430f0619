import { optionRows } from '../lib/options.ts'
import { nearest } from './nearest.ts'
import { configVariable, secretFileVariables } from './server-options.ts'

// Variables of commands other than `serve`, and for developing Afield.
const others = ['AFIELD_BACKUP_PASSPHRASE', 'AFIELD_HOME', 'AFIELD_LEAN', 'AFIELD_SERVER', 'AFIELD_SERVICE']
const ofTests = /^AFIELD_(TEST_.*|FAULT_.*|ON_PINNED_NODE|PROGRAM|MUTANT|(.*_)?(SEED|SECONDS))$/

/** A warning for each environment variable with our prefix that nothing reads, since a typo would silently have no effect. */
export function unknownSettings(env: Record<string, string | undefined>): string[] {
  const known = [...optionRows().map(row => row.env as string), ...secretFileVariables(), configVariable, ...others]
  return Object.keys(env)
    .filter(name => name.startsWith('AFIELD_') && !known.includes(name) && !ofTests.test(name))
    .map(name => {
      const meant = nearest(name, known)
      return `The variable ${name} has no effect.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
    })
}
