import Logging
import MessageBus

extension BusNotice.Kind {
    /// As the hub logs it.
    package var logEvent: LogEvent {
        switch self {
        case .refused: .busRefused
        case .denied: .busDenied
        case .unreadable: .busUnreadable
        case .reopened: .busReopened
        }
    }
}
