/// What is asked of a plugin.
package enum ConformanceCase: String, Sendable, CaseIterable {
    // Lines: of a handler in any language, told by its standard input.
    case hello, protocolRange = "protocol-range", unknownMembers = "unknown-members", pieces
    case sameDayTwice = "same-day-twice", otherOrder = "other-order", freshProgram = "fresh-program"
    case emptyDay = "empty-day", clockChanges = "clock-changes", oddValues = "odd-values", manyRows = "many-rows"
    case endOfInput = "end-of-input"
    // A process: of every plugin, in a stack of its own.
    case ready, options, lock, foreignMessages = "foreign-messages", standby, drain
    // Figures: of every handler, in that stack.
    case figures, anew, repeated, crash, drainAtWork = "drain-at-work", emptied, manySamples = "many-samples"

    package enum Group: Sendable { case lines, process, figures }

    package var group: Group {
        switch self {
        case .hello, .protocolRange, .unknownMembers, .pieces, .sameDayTwice, .otherOrder, .freshProgram, .emptyDay,
            .clockChanges, .oddValues, .manyRows, .endOfInput:
            .lines
        case .ready, .options, .lock, .foreignMessages, .standby, .drain: .process
        case .figures, .anew, .repeated, .crash, .drainAtWork, .emptied, .manySamples: .figures
        }
    }

    package var about: String {
        switch self {
        case .hello: "answers hello in time, with its own name"
        case .protocolRange: "claims no protocol version that it can't know"
        case .unknownMembers: "passes over members that it doesn't know"
        case .pieces: "takes lines that come in pieces"
        case .sameDayTwice: "gives a day the same figures again"
        case .otherOrder: "gives each day its figures in any order of days"
        case .freshProgram: "gives the same figures when it is started anew"
        case .emptyDay: "gives no figures of a day without samples"
        case .clockChanges: "lists 23 and 25 hours when the clocks change"
        case .oddValues: "answers for odd samples: no number, no duration, days long"
        case .manyRows: "answers for 100000 samples of a day in time"
        case .endOfInput: "ends with 0 when its input ends"
        case .ready: "says on the bus that it is ready"
        case .options: "refuses an option that isn't declared, with exit code 2"
        case .lock: "doesn't run twice on one state folder"
        case .foreignMessages: "lives on when it hears what it can't understand"
        case .standby: "waits for the lock, and takes over when it is free"
        case .drain: "ends with 0 within 10 s of SIGTERM"
        case .figures: "computes every day of an import, with clock changes and odd samples"
        case .anew: "gives the same when the samples came in another order"
        case .repeated: "gives the same when messages come twice, with more in them"
        case .crash: "gives the same after kill -9 in the midst of its work"
        case .drainAtWork: "ends with 0 at work, and goes on later"
        case .emptied: "takes figures back when a day's samples are gone"
        case .manySamples: "computes a day of 100000 samples"
        }
    }
}
