import EnergyStage
import HandlerKit
import StageKit

PluginProgram.run("energy") { context in StageParts(handler: HandlerStage(EnergyHandler(), context)) }
