import EnergyStage
import HandlerKit
import StageKit

PluginProgram.run("energy", EnergyHandler())
