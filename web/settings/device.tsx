import { now } from '../core/clock.ts'
import { type DecidedOn, type Device, decidedOn, listDevices } from '../model/account/devices.ts'
import type { Live } from '../model/account/live.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { folderName } from '../model/sessions.ts'
import { Empty } from '../ui/empty.tsx'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { visible } from '../ui/visible-text.ts'
import { people as words } from '../words/people.ts'
import { agoInWords, fullTime } from '../words/time.ts'
import { nameOfDevice } from './devices.tsx'
import { Loaded } from './loaded.tsx'

/** The decisions made on one device, as recorded by the machines they were for. */
export function DevicePage({ id }: { id: string }) {
  return <Loaded read={link => read(link, id)} show={({ device, decided }) => <Decided device={device} decided={decided} />} />
}

interface Known {
  readonly device: Device | undefined
  readonly decided: readonly DecidedOn[]
}

async function read(link: Live, id: string): Promise<Known> {
  const [devices, decided] = await Promise.all([listDevices(link), decidedOn(link, [...home.peek().machines.values()], id)])
  return { device: devices.find(each => each.id === id), decided }
}

function Decided({ device, decided }: Known) {
  const made = decided
    .flatMap(({ machine, entries }) => (typeof entries === 'string' ? [] : entries.map(entry => ({ machine, entry }))))
    .toSorted((one, other) => other.entry.at - one.entry.at)
  // A machine without our daemon reports nothing, which does not mean that nothing was decided.
  const silent = decided.filter(({ entries }) => typeof entries === 'string')
  return (
    <>
      <p class="lead" dir="auto">
        {words.decidedLead(device ? nameOfDevice(device) : words.unknownDevice)}
      </p>
      {made.length === 0 && silent.length === 0 && <Empty title={words.decidedNone} text={words.decidedNoneText} />}
      {made.length > 0 && (
        <ul class="card tight">
          {made.map(({ machine, entry }) => (
            <li key={`${machine} ${entry.at} ${entry.what}`} class="irow">
              <Icon name={icons[entry.answer]} />
              <span>
                <b dir="auto">{visible(entry.what)}</b>
                <small title={fullTime(entry.at)}>{words.decidedAs[entry.answer](agoInWords(entry.at, now.value))}</small>
                <small dir="auto">
                  {[folderName(entry.folder), nameOf(machine), entry.rule && words.decidedRule(visible(entry.rule))]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </span>
            </li>
          ))}
        </ul>
      )}
      {silent.map(({ machine, entries }) => (
        <p key={machine} class="hint">
          {entries === 'away' ? words.decidedAway(nameOf(machine)) : words.decidedUntold(nameOf(machine))}
        </p>
      ))}
    </>
  )
}

function nameOf(machine: string): string {
  const known = home.value.machines.get(machine)
  return known ? nameOfMachine(known) : machine
}

const icons: Record<'allowed' | 'denied' | 'ended', IconName> = { allowed: 'check', denied: 'x', ended: 'circle' }
