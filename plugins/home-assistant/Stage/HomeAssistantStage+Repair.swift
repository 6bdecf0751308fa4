import HealthModel
import Protocol
import StageKit

extension HomeAssistantStage {
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        switch request.action {
        case "replay":
            // Only today and yesterday are shown, so both are sent again whatever days were named.
            board.forget()
            return .done([:])
        // Nothing is refused for good, so there are no dead letters.
        case "retry": return .done(["sent": 0, "deadLetters": 0])
        case "drop": return .done(["dropped": 0])
        case "reset":
            try reset(turn)
            return .done([:])
        case let other: return .refused("the home-assistant destination doesn't support '\(other)'")
        }
    }
}
