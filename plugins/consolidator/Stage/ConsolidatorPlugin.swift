import Configuration
import StageKit

extension StagePlugin {
    package static let consolidator = StagePlugin(
        "consolidator", stage: { try ConsolidatorStage(stack: $0.stack, instance: $0.instance) })
}
