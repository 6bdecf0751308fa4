import HealthModel
import Protocol
import StageKit

extension StageParts {
    /// A handler, which is tried out before it takes another's place.
    package init(handler: HandlerStage, effects: (any EffectRunner)? = nil) {
        self.init(
            stage: handler, effects: effects,
            trial: { database, client in
                handler.takesOver = true
                return try HandlerTrial(handler: handler, effects: effects, client: client).run(path: database)
            },
            isOther: { try handler.isOther(than: $0) })
    }
}

extension PluginProgram {
    /// Runs a handler until SIGTERM or SIGINT; ends the process.
    package static func run(_ plugin: String, _ handler: any DayHandler) -> Never {
        run(plugin) { context in StageParts(handler: HandlerStage(handler, context)) }
    }
}
