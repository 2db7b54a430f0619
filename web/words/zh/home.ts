import type { HomeWords } from '../home.ts'

export const home: HomeWords = {
  allQuiet: '一切安静',
  nothingNeedsYou: '没有什么需要你',
  needYou: n => `${n} 个智能体需要你`,
  tally: (waiting, working, quiet) => {
    if (working > 0) return `${working} 个在工作。`
    if (waiting > 0) return '没有其他在运行的。'
    return quiet === 0 ? '还没有会话。' : '现在没有什么需要你。'
  },
  away: host => `${host} 不在线。`,
  manyAway: n => `${n} 台电脑不在线。`,
  wereWorking: (n, at) => `${at} 时有 ${n} 个在工作`,
  neededAt: (n, at) => `${at} 时有 ${n} 个需要你`,
  wasQuiet: at => `${at} 时一切安静`,
  nothingNeeded: '你不在时它们会继续工作。当时没有什么需要你。',
  nothingWorked: '你不在时，智能体会继续工作。',
  neededThen: n => `当时有 ${n} 个智能体需要你。`,
  decisions: '需要你',
  working: '工作中',
  quiet: '最近',
  lastKnown: '最后的状态',
  review: '查看',
  answer: '回答',
  andRisks: (first, others) => `${first}，另有 ${others} 项风险`,
  more: n => `还有 ${n} 个等着你`,
  pickOne: '请在左侧选择一个会话。',
  keys: { move: '移动', open: '打开', begin: '新建', all: '全部按键' },
  answerAll: n => (n === 1 ? '去答复' : `答复 ${n} 个`),
  empty: '这里还没有会话',
  emptyText: '在运行智能体的电脑上输入这条命令，然后打开它显示的地址，或扫描它的二维码。它会启动 Claude Code。',
  orDemo: '没有 AI 账户也能试用：把 claude 换成 demo。',
  inSources: '在 Afield 源代码所在的文件夹中运行。',
  onlyHere: '要关联其他电脑，请用它也能访问的地址打开此页面。',
  scan: '扫描二维码',
  paste: '改为粘贴链接',
  ready: host => `${host} 已就绪`,
  readyText: '在那里启动智能体，它就会出现在这里。',
  howToStart: '如何启动',
  loading: '正在加载你的会话',

  needsYou: {
    title: '需要你',
    empty: '没有什么需要你',
    emptyText: '都处理完了。',
    toHome: '主页',
    place: (at, of) => `第 ${at} 个，共 ${of} 个`,
    next: '下一个决定',
    before: '上一个决定'
  }
}
