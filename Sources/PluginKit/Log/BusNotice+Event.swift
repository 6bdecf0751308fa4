import Console
import MessageBus

extension BusNotice {
    /// As what it is logged.
    public var event: LogEvent {
        switch kind {
        case .refused: .busRefused
        case .denied: .busDenied
        case .unreadable: .busUnreadable
        case .reopened: .busReopened
        }
    }
}
