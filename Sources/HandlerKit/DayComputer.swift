import HealthModel

/// The means by which a handler's days are computed.
package enum DayComputer: Sendable {
    /// A function, called in the stage's own turn.
    case function(any DayHandler)
    /// Something outside the stage: every day is an effect (`DayRequest`), whose result is a `DayReply`.
    case beside(any HandlerTraits)

    var traits: any HandlerTraits {
        switch self {
        case .function(let handler): handler
        case .beside(let traits): traits
        }
    }
}

/// A day to compute outside the stage.
package struct DayRequest: Sendable {
    package var input: DayInput
    package init(input: DayInput) { self.input = input }
}

package enum DayReply: Sendable {
    case computed(DayOutput)
    /// This attempt failed; the text gives the reason and never contains a health value.
    case failed(String)
    /// No more days can be computed: the process has to restart.
    case unavailable(any Error)
}

/// Why a day that was computed outside the stage has no figures.
struct DayFailure: Error, CustomStringConvertible {
    let description: String
}

/// A day that is being computed, with the mark that it had when its samples were requested.
struct DayJob {
    var key: DirtyDays.Key
    var generation: Int64
}
