// A server with its own sign-up policy: clients named `friend/…` are admitted until there are three accounts; the owner
// is asked about all others.
//   node examples/own-policy.ts ./data
import { createServer } from 'afield'

const mostPeople = 3
let people = 0

const server = await createServer({
  port: 0,
  data: process.argv[2] ?? './data',
  logLevel: 'warn',
  policy: {
    signup: ({ client, fingerprint }) => {
      console.log(`${fingerprint} asks`)
      if (!client.startsWith('friend/')) return 'ask-owner'
      return people < mostPeople ? 'admit' : 'refuse'
    }
  },
  onAudit: event => {
    if (event.type === 'account-created') people += 1
  }
})
console.log(`listening on ${server.url}`)

process.once('SIGTERM', async () => {
  await server.close()
  console.log('closed')
})
