import Configuration
import StageKit

extension StagePlugin {
    package static let debouncer = StagePlugin(
        "debouncer", stage: { try DebouncerStage(stack: $0.stack, instance: $0.instance) },
        effects: { _ in MachineWatcher() })
}
