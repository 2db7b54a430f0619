import { join } from 'node:path'

const source = join(import.meta.dirname, '../../bin/afield.ts')

/**
 * The file that starts the program. A whole run bundles it once (test/kit/bundles.mjs), since hundreds of tests start it. What
 * is loaded into it with NODE_OPTIONS may change its sources, so then it starts from these.
 */
export function programFile(env: Readonly<Record<string, string | undefined>> = {}): string {
  return (env['NODE_OPTIONS'] === undefined && process.env['AFIELD_TEST_BUNDLE']) || source
}
