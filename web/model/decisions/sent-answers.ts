import { computed, type ReadonlySignal } from '@preact/signals'
import { CallFailed, callSession } from '../../../lib/client/index.ts'
import type { RulePattern, RuleTrial } from '../../../lib/protocol/sealed/decisions/rules.ts'
import type { Live } from '../account/live.ts'
import { giveReply, type Reply, type ReplyState, replyKey } from '../outbox/replies.ts'
import { type Life, lifeOf, type MyAnswer, type Verdict } from './answers.ts'
import type { Answered, OpenRequest } from './decisions.ts'
import type { Answers, OpenQuestion } from './questions.ts'

/** The answers given here, and their state. */
export interface SentAnswers {
  /** Answers given here that are not completed yet, by request. */
  readonly lives: ReadonlySignal<ReadonlyMap<string, { answer: MyAnswer; life: Life }>>
  readonly questionStates: ReadonlySignal<ReadonlyMap<string, ReplyState>>
  /** Offline, it is queued and can be withdrawn until sent; allowing a risky request is never queued. */
  answer(request: OpenRequest, verdict: Verdict, isRisky: boolean): Promise<void>
  withdraw(request: string): void
  answerQuestion(question: OpenQuestion, answers: Answers | undefined): Promise<void>
  tryRule(pattern: RulePattern): Promise<RuleTrial>
  /** The person has seen the result of an answer. */
  dismiss(request: string): void
}

export function openSentAnswers(
  { id, live, me }: { id: string; live: Live; me: string | undefined },
  known: { requests: ReadonlySignal<readonly OpenRequest[]>; answered: ReadonlySignal<readonly Answered[]> }
): SentAnswers {
  const { queue } = live
  const mine = computed(() => queue.of('reply').filter(reply => reply.session === id))
  return {
    lives: computed(() => livesOf(mine.value, { requests: known.requests.value, answered: known.answered.value }, me)),
    questionStates: computed(
      () => new Map(mine.value.flatMap(reply => (reply.type === 'question' ? [[reply.asked.id, reply.state] as const] : [])))
    ),
    answer(request, verdict, isRisky) {
      const isYes = verdict.kind !== 'deny' && verdict.kind !== 'stop'
      return giveReply(queue, { type: 'permission', session: id, asked: request, verdict, at: Date.now() }, !(isYes && isRisky))
    },
    withdraw: request => void queue.withdraw(replyKey(id, request)),
    answerQuestion: (question, answers) =>
      giveReply(queue, { type: 'question', session: id, asked: question, answers, at: Date.now() }, true),
    async tryRule(pattern) {
      const cipher = live.cipherOf(id)
      if (cipher === undefined) throw new CallFailed('unreadable', '')
      return callSession(live.socket, cipher, id, 'rules-try', pattern)
    },
    dismiss: request => queue.dismiss(replyKey(id, request))
  }
}

/** The state of this device's answers to one session. */
export function livesOf(
  replies: readonly Reply[],
  known: { requests: readonly OpenRequest[]; answered: readonly Answered[] },
  me: string | undefined
): Map<string, { answer: MyAnswer; life: Life }> {
  return new Map(
    replies.flatMap(reply => {
      if (reply.type !== 'permission') return []
      const { asked: request, verdict, at, state } = reply
      const answer: MyAnswer = { request, verdict, at, state }
      const isOpen = known.requests.some(each => each.id === request.id)
      const answered = known.answered.find(each => each.id === request.id)
      return [[request.id, { answer, life: lifeOf(answer, answered, isOpen, me) }] as const]
    })
  )
}
