/// The properties of a plugin that are tested.
package enum ConformanceCase: String, Sendable, CaseIterable {
    // Line cases: for a handler in any language, over its standard input.
    case hello, protocolRange = "protocol-range", unknownMembers = "unknown-members", pieces
    case sameDayTwice = "same-day-twice", otherOrder = "other-order", freshProgram = "fresh-program"
    case emptyDay = "empty-day", clockChanges = "clock-changes", oddValues = "odd-values", manyRows = "many-rows"
    case endOfInput = "end-of-input"
    // Process cases: for every plugin, in a stack of its own.
    case ready, options, lock, foreignMessages = "foreign-messages", standby, drain
    // Figure cases: for every handler, in that stack.
    case figures, reordered, repeated, crash, drainAtWork = "drain-at-work", emptied, manySamples = "many-samples"

    package enum Group: Sendable { case lines, process, figures }

    package var group: Group {
        switch self {
        case .hello, .protocolRange, .unknownMembers, .pieces, .sameDayTwice, .otherOrder, .freshProgram, .emptyDay,
            .clockChanges, .oddValues, .manyRows, .endOfInput:
            .lines
        case .ready, .options, .lock, .foreignMessages, .standby, .drain: .process
        case .figures, .reordered, .repeated, .crash, .drainAtWork, .emptied, .manySamples: .figures
        }
    }

    package var about: String {
        switch self {
        case .hello: "answers hello in time, with its own name"
        case .protocolRange: "doesn't claim a protocol version it can't know"
        case .unknownMembers: "ignores members it doesn't know"
        case .pieces: "accepts lines that come in pieces"
        case .sameDayTwice: "gives the same figures for a day again"
        case .otherOrder: "gives the same figures in any order of days"
        case .freshProgram: "gives the same figures after a restart"
        case .emptyDay: "gives no figures for a day without samples"
        case .clockChanges: "lists 23 and 25 hours when the clocks change"
        case .oddValues: "handles odd samples: no number, no duration, days long"
        case .manyRows: "keeps up with a day of 100000 samples"
        case .endOfInput: "exits with 0 when its input ends"
        case .ready: "reports on the bus that it is ready"
        case .options: "refuses an option that isn't declared, with exit code 2"
        case .lock: "doesn't run twice on one state folder"
        case .foreignMessages: "survives messages it can't understand"
        case .standby: "waits for the lock, and takes over when it is free"
        case .drain: "exits with 0 within 10 s of SIGTERM"
        case .figures: "computes every day of an import, with clock changes and odd samples"
        case .reordered: "gives the same figures when the samples come in another order"
        case .repeated: "gives the same figures when messages come twice, with added members"
        case .crash: "gives the same figures after kill -9 in the middle of its work"
        case .drainAtWork: "exits with 0 while at work, and continues later"
        case .emptied: "removes figures when a day's samples are gone"
        case .manySamples: "computes a day with 100000 samples"
        }
    }
}
