import Logging
import MessageBus

extension BusNotice.Kind {
    /// The event that the hub logs.
    package var logEvent: LogEvent {
        switch self {
        case .refused: .busRefused
        case .denied: .busDenied
        case .unreadable: .busUnreadable
        case .reopened: .busReopened
        }
    }
}
