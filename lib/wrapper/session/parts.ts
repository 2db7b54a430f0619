import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { AgentState } from '../../protocol/sealed/session.ts'
import type { Agent } from '../agents/agent.ts'
import { type Attachments, createAttachments } from '../agents/attachments.ts'
import { type Approvals, createApprovals, type EditedHere } from '../approvals/approvals.ts'
import type { Home } from '../home/credentials.ts'
import { createNoticeQueue } from '../home/notice-queue.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import { previewOf } from '../uplink/preview.ts'
import type { Uplink } from '../uplink/uplink.ts'
import { type Choices, createChoices } from './choices.ts'
import { type Cursor, createCursor } from './cursor.ts'
import { createGoals, type Goals } from './goals.ts'
import { createModelWaits, type ModelWaits } from './model-waits.ts'
import { createNotices, type Notices } from './notices.ts'
import { createNarrator, type Narrator } from './output/narrator.ts'
import { createPictures, type Pictures } from './output/pictures.ts'
import { createWriter, type Writer } from './output/writer.ts'
import { createQueue, type Queue } from './queue.ts'
import { type AutoDeny, createAutoDeny } from './requests/auto-deny.ts'
import { createRequests, type Requests, type RequestsDeps } from './requests/requests.ts'
import { createSealFaults, type SealFaults } from './seal-faults.ts'
import { createViewers, type Viewers } from './viewers.ts'

/** The parts of a session. */
export interface SessionParts {
  readonly agent: Agent
  readonly folder: SessionFolder
  /** Undefined until it was opened. */
  readonly uplink: Uplink | undefined
  readonly writer: Writer
  readonly queue: Queue
  readonly cursor: Cursor
  readonly narrator: Narrator
  readonly approvals: Approvals
  readonly requests: Requests
  readonly choices: Choices
  readonly goals: Goals
  readonly attachments: Attachments
  readonly pictures: Pictures
  readonly notices: Notices
  readonly autoDeny: AutoDeny
  readonly modelWaits: ModelWaits
  readonly viewers: Viewers
  readonly sealFaults: SealFaults
  /** The terminal output changed. */
  onChange(): void
}

/** A session that could not record something marks this, also for later processes. */
function editedIn(folder: SessionFolder): EditedHere {
  const files = folder.openEditedFiles()
  return {
    paths: files.paths,
    get isWhole() {
      return folder.notes.knowsEdits === true
    },
    add(paths) {
      try {
        files.add(paths)
      } catch {
        folder.note({ knowsEdits: false })
      }
    }
  }
}

export function createParts(
  { agent, home, folder, onChange }: { agent: Agent; home: Pick<Home, 'path'>; folder: SessionFolder; onChange(): void },
  uplink: () => Uplink | undefined
): SessionParts {
  const writer = createWriter({
    put: async (...said) => uplink()?.put(...said),
    publish: change => uplink()?.changeState(change),
    onChange
  })
  folder.onWaiting(writer.notesWait)
  const put = (body: MessageBody, localId?: string) => writer.write(body, localId)
  const narrator = createNarrator({
    put,
    showPartial: frame => uplink()?.showPartial(frame) ?? false
  })
  const tell = (sentence: string) => narrator.say(sentence)
  const queue = createQueue({ folder, write: put, uplink, onChange })
  const cursor = createCursor({ agent, folder, queue, put })
  const approvals = createApprovals({
    home: home.path,
    folder: folder.notes.metadata.path,
    edited: editedIn(folder),
    session: () => uplink()?.session,
    onTrouble: sentence => void tell(sentence)
  })
  const preview = (ask: string | null) => {
    const request = ask === null ? undefined : requests.request(ask)
    return previewOf(folder.notes, ask !== null && request ? { ask, request } : undefined)
  }
  const noticeQueue = createNoticeQueue(
    folder,
    (notice, ask) => uplink()?.notify(notice, preview(ask)) ?? Promise.reject(new Error('there is no connection'))
  )
  const notices = createNotices({ queue: noticeQueue, open: () => requests.open.map(({ ask }) => ask) })
  const publish = (change: (state: AgentState) => AgentState) => {
    uplink()?.changeState(change)
    notices.review()
    autoDeny.review()
  }
  const giveAnswers: RequestsDeps['giveAnswers'] = (ask, answers) => agent.answerQuestion?.(ask, answers) ?? false
  const requests = createRequests({ publish, approvals, giveAnswers })
  const autoDeny = createAutoDeny({
    folder,
    open: () => requests.open.flatMap(({ type, ask }) => (type === 'permission' ? ask : [])),
    publish: change => uplink()?.changeState(change)
  })
  return {
    agent,
    folder,
    get uplink() {
      return uplink()
    },
    writer,
    queue,
    cursor,
    narrator,
    approvals,
    requests,
    choices: createChoices({ agent, publish: change => uplink()?.changeMetadata(change), tell }),
    goals: createGoals(agent, change => uplink()?.changeState(change)),
    attachments: createAttachments({
      download: (file, signal) => uplink()?.attachments.open(file, signal) ?? Promise.reject(new Error('there is no connection')),
      takesImages: () => agent.takesImages ?? false,
      tell
    }),
    pictures: createPictures({
      send: (bytes, signal) => uplink()?.attachments.send(bytes, signal) ?? Promise.reject(new Error('there is no connection')),
      isLinked: () => uplink()?.link.type === 'live',
      tell: event => narrator.tell(event)
    }),
    notices,
    autoDeny,
    modelWaits: createModelWaits({ publish: change => uplink()?.changeState(change), onChange }),
    viewers: createViewers(onChange),
    sealFaults: createSealFaults(body => writer.write(body), onChange),
    onChange
  }
}
