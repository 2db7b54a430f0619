// Functions to read, write and sign in with the account key: a small part of the client, for use before there is a link.
export { signIn } from '../../../lib/client/sign-in/login.ts'
export { formatBackupKey, readBackupKey } from '../../../lib/crypto/backup-key.ts'
export { cryptoReady } from '../../../lib/crypto/ready.ts'
