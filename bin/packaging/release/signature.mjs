import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { verifyMinisign } from '../../../lib/upgrade/minisign.ts'
import { pathOf } from '../target.mjs'

/**
 * The public key that programs of this release have, as the text of its file: the one named, or the one beside the key that
 * signs. Undefined if there is neither, so that the programs cannot upgrade themselves.
 */
export function publicKeyOf({ signKey, publicKey }) {
  if (signKey === undefined && publicKey === undefined) return undefined
  const candidates = publicKey ? [publicKey] : [`${signKey}.pub`, signKey.replace(/\.[^./\\]*$/, '.pub')]
  const file = candidates.find(each => existsSync(each))
  if (!file) throw new Error(`There is no public key at ${candidates.join(' or ')}. Name it with --public-key.`)
  return readFileSync(file, 'utf8')
}

/** Said before hours of work, not after. */
export function refuseToSignWithout(signKey) {
  if (!existsSync(signKey)) throw new Error(`There is no key at ${signKey}. Create one: minisign -G -s ${signKey} -p ${signKey}.pub`)
  if (!pathOf('minisign')) throw new Error('minisign is missing, which signs a release. On Debian: apt-get install minisign.')
}

/**
 * Signs a file with minisign, which asks for the password of a key that has one, and checks the signature as `afield upgrade` does.
 * The comment holds no time, so that the same file has the same signature.
 */
export function sign(file, { signKey, publicKey, comment }) {
  const signature = `${file}.minisig`
  execFileSync('minisign', ['-S', '-q', '-s', signKey, '-m', file, '-x', signature, '-t', comment, '-c', 'signature of Afield'], {
    stdio: ['inherit', 'inherit', 'inherit']
  })
  const verdict = verifyMinisign({ keys: publicKey, content: readFileSync(file), signature: readFileSync(signature, 'utf8') })
  if (verdict !== 'valid') throw new Error(`The signature of ${file} does not fit the public key (${verdict}): is it that of ${signKey}?`)
  return signature
}
