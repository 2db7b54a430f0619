import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { startPhone } from '../../test/wrapper/kit/phone.ts'
import { linkedComputer } from '../../test/wrapper/kit/world.ts'
import { openRawSocket } from '../kit/raw-socket.ts'
import { environment, type Peer } from './peer.ts'

/** The program that AFIELD_PROGRAM names, otherwise from its sources. */
const program = process.env['AFIELD_PROGRAM']?.split(' ') ?? [process.execPath, resolve('bin/afield.ts')]

export const afield: Peer = {
  name: 'Afield',
  installed: process.env['AFIELD_PROGRAM'],
  healthPath: '/health',
  serve: ({ port, data }) => ({
    words: [...program, 'serve', '--port', String(port), '--data', data, '--signup', 'open', '--expo-url', 'off'],
    env: {}
  }),
  async converse({ t, url, wrapperUrl, folder }) {
    const { phone: first, home } = await linkedComputer(t, { url: wrapperUrl })
    const [command = '', ...args] = program
    const env = environment(folder, { AFIELD_HOME: home, PATH: `${folder}:${process.env['PATH']}` })
    const wrapper = spawn(command, [...args, 'run', 'gemini'], { cwd: folder, env, stdio: 'ignore' })
    t.teardown(() => wrapper.kill('SIGKILL'))
    // The phone has a way of its own.
    const phone = await startPhone(t, { url }, first.secret)
    const session = await phone.session()
    return {
      wrapper: wrapper.pid ?? 0,
      say: async text => void (await session.say(text)),
      read: async () => JSON.stringify(session.messages),
      async watch(t, url) {
        const auth = { token: phone.token, clientType: 'user-scoped', partials: true }
        const socket = await openRawSocket({ port: Number(new URL(url).port), auth })
        t.teardown(socket.close)
      }
    }
  }
}
