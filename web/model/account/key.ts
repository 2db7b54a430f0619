// What the account key is read, written and signed in with: a small part of the client, for who has no link yet.
export { signIn } from '../../../lib/client/sign-in/login.ts'
export { formatBackupKey, readBackupKey } from '../../../lib/crypto/backup-key.ts'
export { cryptoReady } from '../../../lib/crypto/ready.ts'
